#!/bin/sh
# remexec @VERSION@ for Linux on @CPU@, with Node @NODE@ and all backends, in one file. The first start unpacks it into
# ${XDG_CACHE_HOME:-~/.cache}/remexec-program, each later one checks what is there. Needs glibc and the usual commands, no Node.
set -eu
die() {
  echo "remexec: $1" >&2
  exit 1
}

case "$(PATH="${PATH:-}:/usr/bin:/bin" uname -sm)" in
  @UNAME@) ;;
  *) die 'this file is for @CPU@: download the one for this machine' ;;
esac
[ -e @LOADER@ ] || die 'this file needs glibc (@LOADER@), which musl does not replace'
cache="${XDG_CACHE_HOME:-}"
case "$cache" in
  /*) ;;
  # The specification says to ignore a relative path.
  *)
    case "${HOME:-}" in
      /*) cache="$HOME/.cache" ;;
      *) die 'there is no place to unpack: set HOME or XDG_CACHE_HOME to a folder of this user' ;;
    esac
    ;;
esac
programs="$cache/remexec-program"
program="$programs/@VERSION@-@HASH@"

# In a process of its own: neither its PATH nor its umask nor its lock is that of remexec.
(
  PATH="${PATH:-}:/usr/bin:/bin"
  LC_ALL=C
  export PATH LC_ALL
  umask 077
  user="$(id -u)"

  # Type, mode, size, time and name of each file that belongs to this user, as a hash.
  is_whole() {
    [ "$(cd "$program" 2>/dev/null && find . -user "$user" \( -type d -printf 'd %m %P\n' -o -printf '%y %m %s %Ts %P\n' \) |
      sort | sha256sum)" = '@LISTING@  -' ]
  }
  payload() { tail -c +@OFFSET@ "$self"; }

  self="$0"
  mkdir -p "$programs" || die "cannot make $programs: set XDG_CACHE_HOME to a folder of this user"
  [ "$(find "$programs" -prune -type d -user "$user" ! -perm /022)" = "$programs" ] ||
    die "$programs is not safe: it must be a folder that belongs to this user and that nobody else may write to"
  is_whole && exit 0
  exec 9>"$programs/lock"
  flock 9
  # Another start may have unpacked it meanwhile.
  is_whole && exit 0
  # Nobody else unpacks now, so these were left by a start that was killed.
  rm -rf "$programs"/new.* "$programs"/old.*
  [ "$(payload | sha256sum)" = '@SHA256@  -' ] || die "$self is damaged: download it again"
  new="$(mktemp -d "$programs/new.XXXXXX")"
  trap 'rm -rf "$new"' EXIT
  payload | tar -xzpf - --no-same-owner -C "$new" || die "cannot unpack into $programs"
  if [ -e "$program" ]; then mv -T "$program" "$programs/old.$$"; fi
  chmod 755 "$new"
  mv -T "$new" "$program"
  rm -rf "$programs"/old.*
  is_whole || die "$program is not as it was unpacked: is another program changing it?"
)

case "${0##*/}" in
  ccache-storage-grpc | ccache-storage-grpcs) main=ccache-storage.js ;;
  *) main=cli.js ;;
esac
exec "$program/bin/node" @NODE_OPTIONS@ "$program/dist/$main" "$@"
