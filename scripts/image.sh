#!/bin/sh
# scripts/image.sh FOLDER FILE VERSION ARCHITECTURE LEVEL: an OCI image of one layer, as an archive that
# `podman load`, `docker load` and `skopeo copy oci-archive:` read. No daemon, the same digest from the same files.
# FOLDER has data/ and tmp/. Servers bind all addresses of the container: who runs it publishes ports.
set -eu
folder=$1 file=$2 version=$3 architecture=$4 level=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
blobs=$work/image/blobs/sha256
mkdir -p "$blobs"
# pack FOLDER OPTION...: an archive with the same bytes from the same files.
pack() {
    folder_packed=$1
    shift
    tar -C "$folder_packed" --sort=name --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --format=gnu "$@"
}
digest() {
    sha256sum "$1" | cut -d' ' -f1
}
# blob FILE: keeps it under its digest, which becomes $name, its size $size.
blob() {
    name=$(digest "$1") size=$(wc -c < "$1")
    mv "$1" "$blobs/$name"
}
created=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
pack "$folder" --owner=0 --group=0 --exclude=./data --exclude=./tmp -cf "$work/layer.tar" .
# The user of the image writes its state, anyone temporary files.
pack "$folder" --owner=65532 --group=65532 --mode=0750 -rf "$work/layer.tar" ./data
pack "$folder" --owner=0 --group=0 --mode=1777 -rf "$work/layer.tar" ./tmp
plain=$(digest "$work/layer.tar")
gzip -n "-$level" < "$work/layer.tar" > "$work/layer.tar.gz"
blob "$work/layer.tar.gz"
layer="{\"mediaType\":\"application/vnd.oci.image.layer.v1.tar+gzip\",\"digest\":\"sha256:$name\",\"size\":$size}"
printf '{"architecture":"%s","os":"linux","created":"%s","config":{"User":"65532:65532","WorkingDir":"/data","Env":["PATH=/usr/bin","HOME=/data","PLAN_BIND=0.0.0.0:8787","GATEWAY_BIND=0.0.0.0:8080"],"Entrypoint":["/usr/bin/groundwave"],"Cmd":["--help"],"ExposedPorts":{"8787/tcp":{},"8080/tcp":{}},"Volumes":{"/data":{}},"Labels":{"org.opencontainers.image.title":"groundwave","org.opencontainers.image.version":"%s","org.opencontainers.image.licenses":"MIT OR Apache-2.0"}},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]},"history":[{"created":"%s","created_by":"scripts/image.sh"}]}' \
    "$architecture" "$created" "$version" "$plain" "$created" > "$work/config.json"
blob "$work/config.json"
config="{\"mediaType\":\"application/vnd.oci.image.config.v1+json\",\"digest\":\"sha256:$name\",\"size\":$size}"
printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":%s,"layers":[%s]}' \
    "$config" "$layer" > "$work/manifest.json"
blob "$work/manifest.json"
printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:%s","size":%s,"platform":{"architecture":"%s","os":"linux"},"annotations":{"org.opencontainers.image.ref.name":"groundwave:%s"}}]}' \
    "$name" "$size" "$architecture" "$version" > "$work/image/index.json"
printf '{"imageLayoutVersion":"1.0.0"}' > "$work/image/oci-layout"
find "$work/image" -type d -exec chmod 755 {} +
find "$work/image" -type f -exec chmod 644 {} +
pack "$work/image" --owner=0 --group=0 -cf "$file" .
