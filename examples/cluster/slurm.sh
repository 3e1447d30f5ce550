#!/bin/bash
# A batch job for Slurm: one run on two nodes, with two ranks of 16 cores on each. Submit it in the folder
# of a built clone that all nodes can access: sbatch examples/cluster/slurm.sh
#SBATCH --job-name=parbench
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=2
#SBATCH --cpus-per-task=16
#SBATCH --exclusive
#SBATCH --time=00:30:00
set -euo pipefail

# srun does not inherit --cpus-per-task from the job.
srun --mpi=pmix --cpus-per-task=16 --cpu-bind=cores --kill-on-bad-exit=1 \
  build/release/bin/parbench --scenario data-parallel --model resnet50 \
  --report reports/runs/cluster.json
