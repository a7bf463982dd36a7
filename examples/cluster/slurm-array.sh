#!/bin/sh
# A sweep as a Slurm job array: a shard a task, on a folder that all nodes share.
#
#   sbatch --array=1-16 slurm-array.sh SCENARIO OUT
#   after it ended: groundwave sweep merge OUT
#SBATCH --job-name=groundwave
#SBATCH --requeue
#SBATCH --cpus-per-task=8
set -eu
exec groundwave --threads "$SLURM_CPUS_PER_TASK" sweep "$1" -o "$2" \
    --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT"
