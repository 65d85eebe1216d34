#!/usr/bin/env bash
# Start munged, slurmctld and slurmd on this machine, by hand: start.sh FOLDER. As root, after
# apt-get install -y slurm-wlm munge. stop.sh FOLDER ends what this started.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
run=$1
marker="# iunet-bench test"
if [ -e /etc/slurm/slurm.conf ]; then
  if ! grep -q "^$marker" /etc/slurm/slurm.conf; then
    echo "this machine has a Slurm of its own (/etc/slurm/slurm.conf): left alone" >&2
    exit 1
  fi
  if timeout 5 scontrol ping > /dev/null 2>&1; then
    echo "the Slurm of another test run is there: left alone" >&2
    exit 1
  fi
fi
mkdir -p "$run"/{state,spool,dev} /etc/slurm
for i in 0 1; do [ -e "$run/dev/fakegpu$i" ] || mknod "$run/dev/fakegpu$i" c 1 3; done
memory=$(awk '/MemTotal/{print int($2/1024*0.8)}' /proc/meminfo)
# --all: OMP_NUM_THREADS, which the tests set to 1, would make nproc say 1. The files must be in /etc/slurm: the plugin's job step drops every SLURM_* variable, SLURM_CONF
# included, before it calls srun.
for name in slurm gres; do
  { echo "$marker"; sed -e "s#@RUN@#$run#g" -e "s#@CPUS@#$(nproc --all)#g" -e "s#@MEM@#$memory#g" \
      "$here/$name.conf.in"; } > "/etc/slurm/$name.conf"
done
if ! munge -n 2> /dev/null | unmunge > /dev/null 2>&1; then
  install -d -m 0755 -o munge -g munge /run/munge
  setpriv --reuid=munge --regid=munge --clear-groups /usr/sbin/munged --force
  touch "$run/munged_is_ours"
fi
slurmctld
slurmd -N localhost
for _ in $(seq 120); do
  [ "$(sinfo -h -o %T -p gpu 2> /dev/null)" = idle ] && exit 0
  sleep 0.25
done
echo "the node did not become idle: $(sinfo 2>&1)" >&2
exit 1
