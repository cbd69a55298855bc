# Sourced by the scripts that install: each thing gets a directory of its own in $KENNEL_CACHE, and is made anew when
# its pinned version changes. A directory is complete only with the file .complete, so an interrupted run does no harm.
# shellcheck shell=bash

fail() {
    echo "${0##*/}: $1" >&2
    exit 1
}

# lock_cache NAME: waits until no other run of the same script installs into the same cache.
lock_cache() {
    mkdir -p "$KENNEL_CACHE"
    exec 9> "$KENNEL_CACHE/$1"
    flock 9
}

# complete DIRECTORY CONTENT: whether it holds exactly that content; if not, it is emptied to be filled anew.
complete() {
    [[ ! -e $1/.complete || $(< "$1/.complete") != "$2" ]] || return 0
    rm -rf "$1"
    mkdir -p "$1"
    return 1
}

# The venvs are made of Debian's Python where there is one: every user and every box can reach it.
python=/usr/bin/python3
[[ -x $python ]] || python=$(command -v python3) || python=/usr/bin/python3

# npm_package DIRECTORY PACKAGE FILE: installs a package and what it needs; the file is what is used of it.
npm_package() {
    complete "$1" "$2" && return
    echo "installing $2 from npm"
    PATH=$KENNEL_TEST_NODE_BIN:$PATH \
        npm install --silent --no-package-lock --no-audit --no-fund --prefix "$1" "$2"
    [[ -f $3 ]] || fail "$2 has no $3 any more: correct scripts/environment.sh"
    echo "$2" > "$1/.complete"
}

# pypi_package DIRECTORY PACKAGE FILE [PIP-OPTION…]: the same for PyPI, in a virtual environment.
pypi_package() {
    local content
    content="$2 for $("$python" --version)"
    complete "$1" "$content" && return
    echo "installing $content from PyPI"
    "$python" -m venv "$1"
    "$1/bin/pip" install --quiet --disable-pip-version-check "${@:4}" "$2"
    [[ -f $3 ]] || fail "$2 has no $3 any more: correct scripts/environment.sh"
    echo "$content" > "$1/.complete"
}
