# Sourced by .ci/run: what the gate needs beside npm's packages, installed only where it is missing.

suitable_node() { # as in package.json's engines
  command -v npm >/dev/null && node -e '
    const [major, minor] = process.versions.node.split(".").map(Number);
    process.exit((major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22 ? 0 : 1);' 2>/dev/null
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi
}

install_tools() {
  local missing=()
  command -v git >/dev/null || missing+=(git)
  command -v curl >/dev/null || missing+=(curl)
  command -v npm >/dev/null || missing+=(nodejs npm)
  compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null || command -v postgres >/dev/null || missing+=(postgresql)
  command -v python3 >/dev/null || missing+=(python3)
  command -v redis-server >/dev/null || missing+=(redis-server)
  command -v chromium >/dev/null || missing+=(chromium)
  command -v promtool >/dev/null || missing+=(prometheus)
  command -v spin >/dev/null || missing+=(spin)
  command -v gcc >/dev/null || missing+=(gcc libc6-dev)
  [ ${#missing[@]} -eq 0 ] && return
  echo "installing: ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  # Again, where the package is there and its program is not.
  as_root apt-get update -qq && as_root apt-get install -y -qq --reinstall --no-install-recommends "${missing[@]}" >/dev/null
}

fetch_node() { # line, folder: one that works is good enough to fetch another from the registry
  local machine
  case $(uname -m) in
    x86_64) machine=x64 ;;
    aarch64) machine=arm64 ;;
    *) return 1 ;;
  esac
  mkdir -p "$2"
  npm install --prefix "$2" --no-audit --no-fund "node-linux-$machine@$1" npm@11 >/dev/null || return
  node_path="$2/node_modules/node-linux-$machine/bin:$2/node_modules/.bin"
}

use_suitable_node() { # folder
  suitable_node && return
  fetch_node "$(cat .nvmrc)" "$1" || return
  export PATH="$node_path:$PATH"
  hash -r
  suitable_node
}

other_line() { # the other end of what is supported: 24 where this is older, 20 where it is not
  node -p 'Number(process.versions.node.split(".")[0]) < 24 ? 24 : 20'
}
