# Read by scripts/dist.sh and scripts/programs.sh, from the root: RUSTFLAGS of programs without shared libraries and
# without folders of this machine in their messages. Random numbers come from the system call: the usual way looks a
# function up that programs without shared libraries do not have, and then needs /dev/random.
export RUSTFLAGS="-C target-feature=+crt-static --cfg getrandom_backend=\"linux_getrandom\" \
--remap-path-prefix=$PWD=groundwave --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
