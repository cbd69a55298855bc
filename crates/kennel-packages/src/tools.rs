//! The flags of the tools that run packages, and what they mean to Kennel.

use crate::flags::{Flags, Meaning};
use Meaning::{Foreign, Further, Nothing, NothingWithValue, Package, Prerelease, Python, Refused};

const SHELL: &str = "runs a line of shell, and Kennel runs programs; name the program and its arguments instead";
const NO_INSTALL: &str =
    "asks not to install what is missing, and Kennel runs packages from its store only; leave it out";
const WORKSPACE: &str = "is about the workspaces of a project; run the program of the project directly instead";
const LOCAL: &str = "takes a path, and Kennel installs packages of a registry by their name; run the program directly";

/// `npx`.
pub(crate) const NPX: Flags = Flags { tool: "npx", known: NPM_FLAGS, unknown: None };

/// `npm exec` and `npm x`.
pub(crate) const NPM_EXEC: Flags = Flags { tool: "npm exec", known: NPM_FLAGS, unknown: None };

const NPM_FLAGS: &[(&str, Meaning)] = &[
    ("-p", Package),
    ("--package", Package),
    ("-y", Nothing),
    ("--yes", Nothing),
    ("-q", Nothing),
    ("--quiet", Nothing),
    ("-s", Nothing),
    ("--silent", Nothing),
    ("-d", Nothing),
    ("--verbose", Nothing),
    ("--ignore-existing", Nothing),
    ("--prefer-offline", Nothing),
    ("--prefer-online", Nothing),
    ("--offline", Nothing),
    ("--no-audit", Nothing),
    ("--no-fund", Nothing),
    ("--no-update-notifier", Nothing),
    ("--loglevel", NothingWithValue),
    ("--cache", NothingWithValue),
    ("-c", Refused(SHELL)),
    ("--call", Refused(SHELL)),
    ("--no", Refused(NO_INSTALL)),
    ("--no-install", Refused(NO_INSTALL)),
    ("--no-yes", Refused(NO_INSTALL)),
    ("-w", Refused(WORKSPACE)),
    ("--workspace", Refused(WORKSPACE)),
    ("-ws", Refused(WORKSPACE)),
    ("--workspaces", Refused(WORKSPACE)),
];

/// `uvx` and `uv tool run`.
pub(crate) const UVX: Flags = Flags {
    tool: "uvx",
    known: &[
        ("--from", Package),
        ("-w", Further),
        ("--with", Further),
        ("-p", Python),
        ("--python", Python),
        ("--prerelease", Prerelease),
        ("-q", Nothing),
        ("--quiet", Nothing),
        ("-v", Nothing),
        ("--verbose", Nothing),
        ("--isolated", Nothing),
        ("-n", Nothing),
        ("--no-cache", Nothing),
        ("--refresh", Nothing),
        ("-U", Nothing),
        ("--upgrade", Nothing),
        ("--offline", Nothing),
        ("--no-progress", Nothing),
        ("--no-config", Nothing),
        ("--native-tls", Nothing),
        ("--color", NothingWithValue),
        ("--cache-dir", NothingWithValue),
        ("--with-editable", Refused(LOCAL)),
        ("--with-requirements", Refused(LOCAL)),
    ],
    unknown: None,
};

/// `pipx run`.
pub(crate) const PIPX: Flags = Flags {
    tool: "pipx run",
    known: &[
        ("--spec", Package),
        ("--with", Further),
        ("--python", Python),
        ("-q", Nothing),
        ("--quiet", Nothing),
        ("-v", Nothing),
        ("--verbose", Nothing),
        ("--no-cache", Nothing),
        ("--pypackages", Refused(LOCAL)),
        ("--path", Refused(LOCAL)),
    ],
    unknown: None,
};

/// `uv run`, which is about a project unless its flags are among these.
pub(crate) const UV_RUN: Flags = Flags {
    tool: "uv run",
    known: &[
        ("-w", Further),
        ("--with", Further),
        ("-p", Python),
        ("--python", Python),
        ("--prerelease", Prerelease),
        ("-q", Nothing),
        ("--quiet", Nothing),
        ("-v", Nothing),
        ("--verbose", Nothing),
        ("--no-project", Nothing),
        ("--isolated", Nothing),
        ("-n", Nothing),
        ("--no-cache", Nothing),
        ("--no-progress", Nothing),
        ("--offline", Nothing),
    ],
    unknown: Some(Foreign),
};
