#!/bin/sh
# A sweep on scheduler and executors in one Slurm allocation, with a store that all nodes share.
# Executors that die are replaced by none: the others take their units.
#
#   sbatch --nodes=16 slurm-executors.sh SCENARIO OUT STORE
#SBATCH --job-name=groundwave
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=8
set -eu
address() { getent ahostsv4 "$(hostname)" | awk 'NR == 1 { print $1 }'; }
here=$(address)
groundwave cluster scheduler --listen "$here:50050" &
srun --no-kill sh -c '
    here=$(getent ahostsv4 "$(hostname)" | awk "NR == 1 { print \$1 }")
    exec groundwave --threads "$SLURM_CPUS_PER_TASK" cluster executor \
        --scheduler "df://$1:50050" --store "$2" --listen "$here:50051"
' sh "$here" "$3" &
groundwave sweep "$1" -o "$2" --cluster "df://$here:50050" --store "$3"
kill %2 %1
