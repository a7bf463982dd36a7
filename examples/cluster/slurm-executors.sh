#!/bin/sh
# A sweep on scheduler and executors in one Slurm allocation, with a store that all nodes share.
# Executors that die are replaced by none: the others take their units.
#
#   sbatch --nodes=16 slurm-executors.sh SCENARIO OUT STORE
#
# Each process listens on the first private address of its node.
#SBATCH --job-name=groundwave
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=8
set -eu
address='hostname -I | tr " " "\n" |
    grep -m1 -E "^(10|192\.168|172\.(1[6-9]|2[0-9]|3[01])|100\.(6[4-9]|[7-9][0-9]|1[01][0-9]|12[0-7]))\."'
here=$(eval "$address") || { echo "$(hostname) has no private address: $(hostname -I)" >&2; exit 2; }
groundwave cluster scheduler --listen "$here:50050" &
scheduler=$!
sleep 2
kill -0 $scheduler # It says why where it ended.
srun --no-kill --cpus-per-task="$SLURM_CPUS_PER_TASK" sh -c '
    exec groundwave --threads "$3" cluster executor \
        --scheduler "df://$1:50050" --store "$2" --listen "$(eval "$4"):50051"
' sh "$here" "$3" "$SLURM_CPUS_PER_TASK" "$address" &
executors=$!
result=0
groundwave sweep "$1" -o "$2" --cluster "df://$here:50050" --store "$3" || result=$?
kill $executors $scheduler
wait $executors || true
exit $result
