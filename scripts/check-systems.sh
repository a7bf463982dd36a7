#!/bin/sh
# scripts/check-systems.sh: checks the types of what has no part of Linux alone (models, scenarios, runs and replay,
# sweeps, the planning server) for Windows and macOS. C code of packages is not compiled: its compiler is a stub.
set -eu
cd "$(dirname "$0")/.."
stub=$(mktemp)
trap 'rm -f "$stub"' EXIT
cat > "$stub" << 'END'
#!/bin/sh
# Makes the file behind -o, or the archive, empty.
for argument; do
    case ${before:-} in
        -o) : > "$argument" ;;
    esac
    case $argument in
        *.a) : > "$argument" ;;
    esac
    before=$argument
done
END
chmod +x "$stub"
for target in x86_64-pc-windows-gnu aarch64-apple-darwin; do
    rustup -q target add $target
    name=$(echo $target | tr - _)
    echo "check-systems: $target"
    env "CC_$name=$stub" "AR_$name=$stub" cargo check --locked --quiet --target $target \
        -p groundwave_command -p groundwave_page -p groundwave_planning -p groundwave_plot -p groundwave_scenario \
        -p groundwave_setup -p groundwave_simulation -p groundwave_store -p groundwave_sweep
done
echo "check-systems: passed"
