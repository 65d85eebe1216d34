#!/usr/bin/env bash
# End what start.sh FOLDER started, each by its process id.
run=$1
pids=$(cat "$run"/slurmd.pid "$run"/slurmctld.pid 2> /dev/null)
[ -e "$run/munged_is_ours" ] && pids="$pids $(cat /run/munge/munged.pid 2> /dev/null)"
for pid in $pids; do kill "$pid" 2> /dev/null; done
for _ in $(seq 40); do
  alive=""
  for pid in $pids; do kill -0 "$pid" 2> /dev/null && alive=1; done
  [ -z "$alive" ] && break
  sleep 0.25
done
if grep -q "^StateSaveLocation=$run/" /etc/slurm/slurm.conf 2> /dev/null; then
  rm -f /etc/slurm/slurm.conf /etc/slurm/gres.conf
fi
exit 0
