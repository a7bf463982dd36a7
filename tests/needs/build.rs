//! The table of what tests may need of a machine, and the probe of this machine.
//!
//! The probe runs when the test crates are built, and again whenever what it looked at has changed.
#![allow(
    clippy::disallowed_methods,
    reason = "a build script reads its environment and runs programs"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use Check::{AnyFile, Data, Guest, Program, Shell};

/// One thing that a test may need.
struct Need {
    /// The word in `#[needs(...)]`.
    name: &'static str,
    /// All of these must hold.
    checks: &'static [Check],
    /// Command that provides it.
    hint: &'static str,
}

/// One condition.
enum Check {
    /// A program on the `PATH`, or in `/usr/sbin` or `/sbin`.
    Program(&'static str),
    /// A file below the folder of fetched data: `GROUNDWAVE_DATA`, or `.data`.
    Data(&'static str),
    /// Any one of these files.
    AnyFile(&'static [&'static str]),
    /// A line that the shell runs with success.
    Shell(&'static str),
    /// A virtual machine that boots.
    Guest,
}

/// A pair of virtual interfaces in a namespace of its own.
const VETH: &str = "unshare -n ip link add port1 type veth peer name peer1";

/// All needs.
const NEEDS: &[Need] = &[
    Need {
        name: "terrain",
        checks: &[Data("srtm/N57E011.hgt"), Data("geoid/WW15MGH.DAC")],
        hint: "make data",
    },
    Need { name: "gdal", checks: &[Data("gis/ready"), Data("gis/bin/python")], hint: "make gis" },
    Need {
        name: "wheel",
        checks: &[Data("wheel/ready"), Data("wheel/bin/python"), Data("wheel/installed")],
        hint: "make wheel",
    },
    Need {
        name: "npm",
        checks: &[
            Program("node"),
            AnyFile(&["../../out/npm/package/groundwave.wasm"]),
            AnyFile(&["../../out/npm/package/itm.wasm"]),
            AnyFile(&["../../out/npm/package/positions.wasm"]),
        ],
        hint: "make wasm",
    },
    Need {
        name: "page_module",
        checks: &[
            AnyFile(&["../../web/app/wasm/positions.wasm"]),
            AnyFile(&["../../web/app/wasm/itm.wasm"]),
        ],
        hint: "rustup target add wasm32-unknown-unknown, then make web",
    },
    Need {
        name: "schemathesis",
        checks: &[Data("api/ready"), Data("api/bin/schemathesis")],
        hint: "make api",
    },
    Need {
        name: "s3",
        checks: &[Data("s3/ready"), Data("s3/bin/moto_server"), Program("curl")],
        hint: "make s3",
    },
    Need {
        name: "page",
        checks: &[
            Program("node"),
            AnyFile(&["/usr/bin/chromium"]),
            AnyFile(&["../../web/app/node_modules/@playwright/test/cli.js"]),
            AnyFile(&["../../web/app/dist/index.html"]),
        ],
        hint: "scripts/setup.sh, then make web",
    },
    Need {
        name: "webkit",
        checks: &[
            Program("WebKitWebDriver"),
            Program("Xvfb"),
            Shell("ls /usr/lib/*/webkit*gtk-*/MiniBrowser"),
        ],
        hint: "scripts/setup.sh (Debian: webkit2gtk-driver xvfb)",
    },
    Need {
        name: "firefox",
        checks: &[AnyFile(&["/usr/bin/firefox-esr"]), Program("Xvfb")],
        hint: "scripts/setup.sh (Debian: firefox-esr xvfb)",
    },
    Need { name: "emulator", checks: &[Program("qemu-x86_64")], hint: "scripts/setup.sh" },
    Need {
        name: "aarch64",
        checks: &[
            Program("qemu-aarch64"),
            Shell("ls $(rustc --print sysroot)/lib/rustlib/aarch64-unknown-linux-musl/lib"),
        ],
        hint: "scripts/setup.sh (rustup target add aarch64-unknown-linux-musl)",
    },
    Need {
        name: "dpkg",
        checks: &[Program("dpkg-deb"), Program("xz"), Program("node"), Program("sha256sum")],
        hint: "scripts/setup.sh (Debian: dpkg xz-utils nodejs)",
    },
    Need { name: "jq", checks: &[Program("jq")], hint: "scripts/setup.sh" },
    Need { name: "systemd", checks: &[Program("systemd-analyze")], hint: "scripts/setup.sh" },
    Need { name: "openssl", checks: &[Program("openssl")], hint: "scripts/setup.sh" },
    Need {
        name: "openapi_documents",
        checks: &[
            Data("openapi/petstore.json"),
            Data("openapi/star-trek.json"),
            Data("openapi/train-travel.json"),
        ],
        hint: "make api",
    },
    Need {
        name: "mosquitto",
        checks: &[Program("mosquitto"), Program("mosquitto_passwd"), Program("mosquitto_sub")],
        hint: "scripts/setup.sh",
    },
    Need {
        name: "aiosmtpd",
        checks: &[Shell("/usr/bin/python3 -c 'import aiosmtpd'")],
        hint: "scripts/setup.sh",
    },
    Need { name: "ffmpeg", checks: &[Program("ffmpeg")], hint: "scripts/setup.sh" },
    Need {
        name: "rtsp_server",
        checks: &[
            Program("ffmpeg"),
            Shell("/usr/bin/python3 -c \"import gi; gi.require_version('GstRtspServer', '1.0')\""),
            Shell(
                "ls /usr/lib/*/gstreamer-1.0/libgstx264.so /usr/lib/*/gstreamer-1.0/libgstjpeg.so",
            ),
        ],
        hint: "scripts/setup.sh",
    },
    Need {
        name: "vulkan",
        checks: &[
            Shell("ls /usr/share/vulkan/icd.d/lvp_icd.*"),
            Shell("ls /usr/lib/*/libvulkan.so.1"),
        ],
        hint: "scripts/setup.sh (Debian: mesa-vulkan-drivers libvulkan1)",
    },
    Need { name: "faketime", checks: &[Program("faketime")], hint: "scripts/setup.sh" },
    Need { name: "curl", checks: &[Program("curl")], hint: "scripts/setup.sh" },
    Need {
        name: "ipv6",
        checks: &[Shell("grep -q ' lo$' /proc/net/if_inet6")],
        hint: "sysctl net.ipv6.conf.lo.disable_ipv6=0",
    },
    Need {
        name: "iproute2_tables",
        checks: &[AnyFile(&[
            "/usr/lib/x86_64-linux-gnu/tc/normal.dist",
            "/usr/lib/tc/normal.dist",
            "/usr/share/tc/normal.dist",
        ])],
        hint: "scripts/setup.sh (Debian: iproute2)",
    },
    Need {
        name: "namespaces",
        checks: &[Program("ip"), Shell(VETH)],
        hint: "run as root on a kernel with veth",
    },
    Need {
        name: "nftables",
        checks: &[Program("nft"), Shell("unshare -n nft -j list tables")],
        hint: "scripts/setup.sh (Debian: nftables), as root",
    },
    Need {
        name: "nut",
        checks: &[AnyFile(&["/lib/nut/upsd"]), AnyFile(&["/lib/nut/dummy-ups"])],
        hint: "scripts/setup.sh (Debian: nut-server)",
    },
    Need {
        name: "small_disk",
        checks: &[Shell("unshare -m sh -c 'mount -t tmpfs -o size=64k small /mnt && umount /mnt'")],
        hint: "run as root",
    },
    Need {
        name: "loop_device",
        checks: &[
            Program("losetup"),
            Program("mkfs.ext4"),
            Shell("test \"$(id -u)\" = 0 && losetup --find"),
        ],
        hint: "run as root on a kernel with loop devices",
    },
    Need {
        name: "tbf",
        checks: &[
            Program("tc"),
            Shell("unshare -n tc qdisc add dev lo root tbf rate 1mbit burst 2000 limit 4000"),
        ],
        hint: "a kernel with sch_tbf",
    },
    Need {
        name: "kernel_without_netem",
        checks: &[Program("tc"), Shell("unshare -n sh -c '! tc qdisc add dev lo root netem'")],
        hint: "a kernel without sch_netem",
    },
    Need {
        name: "routing_programs",
        checks: &[Program("babeld"), Program("batctl"), Program("iperf3"), Program("ping")],
        hint: "scripts/setup.sh (Debian: babeld batctl iperf3 iputils-ping)",
    },
    Need {
        name: "virtual_machine",
        checks: &[
            Data("kernel/complete"),
            Program("qemu-system-x86_64"),
            Program("setpriv"),
            Program("timeout"),
            AnyFile(&["/bin/busybox"]),
            Program("ip"),
            AnyFile(&["../../scripts/guest.sh"]),
            Guest,
        ],
        hint: "scripts/setup.sh, then make guest",
    },
    Need {
        name: "newer_kernel",
        checks: &[Data("kernel-6.12/complete")],
        hint: "make guest, with a package source that has linux-image-6.12-amd64",
    },
    Need {
        name: "mesh_programs",
        checks: &[
            Program("iw"),
            Program("batctl"),
            Program("wg"),
            Program("dnsmasq"),
            Program("ping"),
        ],
        hint: "scripts/setup.sh",
    },
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    for key in ["GROUNDWAVE_DATA", "GROUNDWAVE_SHARED", "PATH"] {
        println!("cargo::rerun-if-env-changed={key}");
    }
    // A need that is met has no hint.
    let probed = NEEDS.iter().map(|need| {
        let hint = match need.checks.iter().find(|check| !holds(check)) {
            None => "",
            Some(Guest) => "QEMU does not boot one: scripts/guest.sh --probe .data/kernel",
            Some(_) => need.hint,
        };
        format!("{}={hint}", need.name)
    });
    println!("cargo::rustc-env=PROBED={}", probed.collect::<Vec<_>>().join(";"));
}

fn holds(check: &Check) -> bool {
    match check {
        Program(name) => {
            let path = std::env::var_os("PATH").unwrap_or_default();
            let folders =
                std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
            any(folders.map(|folder| folder.join(name)).collect(), None)
        }
        Data(file) => {
            let folder = data();
            any(vec![folder.join(file)], Some(folder))
        }
        AnyFile(files) => any(files.iter().map(PathBuf::from).collect(), None),
        Shell(line) => succeeds(Command::new("sh").args(["-c", line])),
        Guest => {
            let mut probe = Command::new("sh");
            probe.args(["../../scripts/guest.sh", "--probe"]);
            succeeds(probe.arg(data().join("kernel")))
        }
    }
}

/// The folder of fetched data.
fn data() -> PathBuf {
    // Of this run: checkouts that share a build folder share the compiled script.
    let here = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let usual = Path::new(&here).join("../../.data");
    std::env::var_os("GROUNDWAVE_DATA").map_or(usual, PathBuf::from)
}

fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// True if one of the files is there. That one is watched, or else the folders in which one could
/// appear: a path that is not there would make every build run this again.
fn any(files: Vec<PathBuf>, data: Option<PathBuf>) -> bool {
    if let Some(path) = files.iter().find(|file| file.exists()) {
        println!("cargo::rerun-if-changed={}", path.display());
        return true;
    }
    let folders = files.iter().filter_map(|file| file.parent());
    for folder in folders.chain(data.as_deref()).filter(|folder| folder.exists()) {
        println!("cargo::rerun-if-changed={}", folder.display());
    }
    false
}
