#!/bin/bash
# The first process of the lab's namespaces (see sandbox.py). Arguments: its cgroup, its uplink and subnet prefix, a Python.
set -eu
cgroup=$1 uplink=$2 subnet=$3 python=$4
read -r _ # the machine's side of the veth is there
ip link set lo up
ip addr add "$uplink.2/30" dev up0
ip link set up0 up
ip route add default via "$uplink.1"
echo 1 > /proc/sys/net/ipv4/ip_forward
echo 0 > "$cgroup/cgroup.procs"
exec unshare --cgroup bash -c '
  set -eu
  mount -t sysfs sysfs /sys
  mount -t cgroup2 cgroup2 /sys/fs/cgroup
  echo 0 > /sys/fs/cgroup/init/cgroup.procs
  mount -t tmpfs tmpfs /run
  mount -t tmpfs tmpfs /dev/shm
  mkdir -p /run/containers /run/netns /run/lock
  touch /run/modelshelf-lab-ready
  # Reap what podman leaves, for ever.
  exec "$0" -c "import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True: signal.pause()"
' "$python" < /dev/null
