// node scripts/sbom.mjs VERSION: the bill of materials of the programs as CycloneDX 1.6, from what cargo resolves
// without network: packages that are linked into them, with licences and digests.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const version = process.argv[2];
const run = (arguments_) =>
  execFileSync("cargo", [...arguments_, "--locked", "--offline"], { encoding: "utf8", maxBuffer: 1 << 28 });
const { packages } = JSON.parse(run(["metadata", "--format-version", "1"]));
const tree = run([
  "tree", "--package", "groundwave", "--package", "groundwave_agent", "--package", "groundwave_impaird",
  "--edges", "normal", "--prefix", "none", "--format", "{p}",
]);
const linked = new Set(tree.split("\n").map((line) => line.split(" ").slice(0, 2).join(" ")));

// Digests of packages by name and version, from the lock file.
const digests = new Map();
for (const entry of readFileSync("Cargo.lock", "utf8").split("[[package]]")) {
  const field = (key) => entry.match(new RegExp(`^${key} = "(.*)"$`, "m"))?.[1];
  digests.set(`${field("name")} v${field("version")}`, field("checksum"));
}

const components = packages
  .filter((one) => linked.has(`${one.name} v${one.version}`))
  .map((one) => {
    const checksum = digests.get(`${one.name} v${one.version}`);
    return {
      type: "library",
      "bom-ref": `pkg:cargo/${one.name}@${one.version}`,
      name: one.name,
      version: one.version,
      ...(one.license ? { licenses: [{ expression: one.license.replaceAll("/", " OR ") }] } : {}),
      ...(checksum ? { hashes: [{ alg: "SHA-256", content: checksum }] } : {}),
      purl: `pkg:cargo/${one.name}@${one.version}`,
    };
  })
  .sort((one, other) => (one.purl < other.purl ? -1 : 1));
const time = new Date(Number(process.env.SOURCE_DATE_EPOCH ?? 0) * 1000).toISOString().replace(".000Z", "Z");
const document = {
  bomFormat: "CycloneDX",
  specVersion: "1.6",
  version: 1,
  metadata: {
    timestamp: time,
    component: { type: "application", "bom-ref": "groundwave", name: "groundwave", version },
  },
  components,
};
console.log(JSON.stringify(document, null, 1));
