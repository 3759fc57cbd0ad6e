# What must be there before Forge can be built or run: each function returns, or says in one sentence what is
# missing and how to get it. Sourced by ./start and ./test; it installs nothing and changes nothing.

# The oldest git that Forge works with: it has `--attr-source`.
GIT_MINIMUM=2.41
# What the remedy builds.
GIT_RECOMMENDED=2.47.3
# The oldest Node that the board is built with; the TypeScript client works with any 20.
NODE_MINIMUM=20.19

say() { printf '%s\n' "$*" >&2; }

# at_least MINIMUM FOUND
at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }

has() { command -v "$1" >/dev/null 2>&1; }

is_debian() { [ -e /etc/debian_version ] && has apt-get; }

need_unix() {
    case $(uname -s) in
    Linux) ;;
    Darwin) say "Forge compiles on macOS, untested, but cannot supervise agents there yet; use Linux to run any." ;;
    MINGW* | MSYS* | CYGWIN* | Windows*)
        say "Forge does not run on Windows itself; open a WSL terminal (\`wsl --install\`) and start it there."
        return 1
        ;;
    *) say "Forge is only tested on Linux; $(uname -s) may not work." ;;
    esac
}

need_git() {
    local found
    if ! has git; then
        say "git is not installed; Forge needs git $GIT_MINIMUM or newer: $(git_remedy)"
        return 1
    fi
    found=$(git version | awk '{ print $3 }')
    if ! at_least "$GIT_MINIMUM" "$found"; then
        say "git $found at $(command -v git) is too old; Forge needs git $GIT_MINIMUM or newer: $(git_remedy)"
        return 1
    fi
}

# Names the command that brings a git which is new enough. Debian 12 has 2.39 and no newer one in its backports.
git_remedy() {
    local candidate='' directory="git-$GIT_RECOMMENDED"
    if is_debian; then
        candidate=$(apt-cache policy git 2>/dev/null | sed -n 's/^ *Candidate: \([0-9]*:\)\{0,1\}\([0-9.]*\).*/\2/p')
        if [ -n "$candidate" ] && at_least "$GIT_MINIMUM" "$candidate"; then
            echo "sudo apt-get install git"
            return
        fi
        printf '%s' "sudo apt-get install curl gcc make xz-utils zlib1g-dev libcurl4-gnutls-dev libexpat1-dev && "
        printf '%s' "curl -fL https://mirrors.edge.kernel.org/pub/software/scm/git/$directory.tar.xz | tar -xJ && "
        echo "sudo make -C $directory prefix=/usr/local NO_GETTEXT=1 NO_TCLTK=1 NO_PERL=1 install"
        return
    fi
    echo "install it with your system's package manager, or from https://git-scm.com/downloads"
}

need_rust() {
    local root=$1 wanted found
    if ! has cargo || ! has rustc; then
        say "Rust is not installed; install it with: curl --proto '=https' -sSf https://sh.rustup.rs | sh"
        return 1
    fi
    wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$root/Cargo.toml")
    found=$(rustc --version | awk '{ print $2 }')
    if ! at_least "$wanted" "$found"; then
        say "Rust $found is too old; Forge needs Rust $wanted or newer: rustup update stable"
        return 1
    fi
    if ! has cc; then
        say "there is no C compiler, which Rust links with and the embedded database is built by; $(cc_remedy)"
        return 1
    fi
}

need_node() {
    local found
    if ! has node || ! has npm; then
        say "Node is not installed; the board is built with Node $NODE_MINIMUM or newer: https://nodejs.org"
        return 1
    fi
    found=$(node --version)
    if ! at_least "$NODE_MINIMUM" "${found#v}"; then
        say "Node $found is too old; the board is built with Node $NODE_MINIMUM or newer: https://nodejs.org"
        return 1
    fi
}

cc_remedy() {
    if is_debian; then
        echo "install one with: sudo apt-get install gcc libc6-dev"
    else
        echo "install gcc or clang with your system's package manager"
    fi
}
