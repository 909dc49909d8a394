#!/bin/sh
# Runs a command as a container does: `enter.sh ROOT APP NODE [volume:path[:ro] | tmpfs:path] … -- command …`. ROOT becomes a
# read-only root file system with this machine's programs, APP at /app and NODE's folder first in the path; the command has
# user 1000, no capabilities, and gets no new ones. Called below `unshare --mount`.
set -eu
PATH=$PATH:/usr/sbin:/sbin
root=$1 app=$2 node=$3
shift 3
mount -t tmpfs -o mode=755 tmpfs "$root"
for name in usr bin sbin lib lib64; do
  if [ -L "/$name" ]; then
    cp -P "/$name" "$root/$name"
  elif [ -d "/$name" ]; then
    mkdir "$root/$name"
    mount --bind "/$name" "$root/$name"
    mount -o remount,ro,bind "$root/$name"
  fi
done
mkdir -p "$root/app" "$root/opt/node" "$root/proc" "$root/dev" "$root/etc" "$root/run" "$root/var/lib/hookrail"
cp /etc/hosts /etc/resolv.conf /etc/nsswitch.conf "$root/etc/" 2>/dev/null || :
echo 'node:x:1000:1000::/nonexistent:/bin/sh' > "$root/etc/passwd"
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --bind "$app" "$root/app"
mount -o remount,ro,bind "$root/app"
mount --bind "$node" "$root/opt/node"
mount -o remount,ro,bind "$root/opt/node"
for folder in data keys authority trust; do install -d -o 1000 -g 1000 -m 700 "$root/var/lib/hookrail/$folder"; done
while [ "$1" != -- ]; do
  from=${1%%:*} rest=${1#*:}
  to=${rest%%:*}
  mkdir -p "$root$to"
  case $1 in
    tmpfs:*) mount -t tmpfs -o "${rest#*:}" tmpfs "$root$to" ;;
    *) mount --bind "$from" "$root$to" ;;
  esac
  case $1 in *:ro) mount -o remount,ro,bind "$root$to" ;; esac
  shift
done
shift
mount -o remount,ro "$root"
exec chroot "$root" setpriv --reuid 1000 --regid 1000 --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs \
  /bin/sh -c 'cd /app && exec "$@"' sh "$@"
