//! Where in a box something may be.

use crate::error::BoxError;
use crate::size::Size;
use kennel_jail::{Access, Grant, INNER_HOME, SYSTEM};
use std::path::{Component, Path};

/// Whether a path of the host is in the box what it is outside.
pub(crate) fn is_same_place(path: &Path, grants: &[Grant]) -> bool {
    let over = grants.iter().filter(|grant| path.starts_with(&grant.target));
    match over.max_by_key(|grant| grant.target.components().count()) {
        Some(grant) => grant.source == grant.target,
        None => path.starts_with("/usr"),
    }
}

/// Adds a grant; the same path granted twice gets the wider access, two paths at one place are an error.
pub(crate) fn add_grant(grants: &mut Vec<Grant>, grant: Grant) -> Result<(), BoxError> {
    let Some(present) = grants.iter_mut().find(|present| present.target == grant.target) else {
        grants.push(grant);
        return Ok(());
    };
    if present.identity != grant.identity {
        return Err(BoxError::Mount {
            problem: format!("`{}` is already at `{}` in the box", present.source.display(), grant.target.display()),
            path: grant.source,
        });
    }
    if grant.access == Access::ReadWrite {
        present.access = Access::ReadWrite;
    }
    present.as_owner |= grant.as_owner;
    Ok(())
}

/// Places in a box that belong to the box.
const OWN_PLACES: [&str; 6] = ["/", "/proc", "/dev", "/etc", "/sys", "/home"];

/// Refuses a place that the box needs for itself.
pub(crate) fn check_target(target: &Path) -> Result<(), BoxError> {
    let taken = OWN_PLACES.iter().any(|own| target == Path::new(own))
        || ["/proc", "/dev", "/etc", "/sys"].iter().any(|own| target.starts_with(own));
    if !is_plain(target) || taken {
        let problem = format!(
            "is `{}`, but must be absolute, without `..`, and outside of /proc, /dev, /etc and /sys",
            target.display()
        );
        return Err(BoxError::field("mount_path", problem));
    }
    Ok(())
}

/// Nothing can be put into the base system, which is the host's; what it holds can be shown again at its own place.
pub(crate) fn check_not_in_system(target: &Path, source: &Path) -> Result<(), BoxError> {
    if target != source && SYSTEM.iter().any(|system| target.starts_with(system)) {
        let problem =
            format!("is `{}`, but nothing can be added to the base system; choose another place", target.display());
        return Err(BoxError::field("mount_path", problem));
    }
    Ok(())
}

/// The least that a place of a box's own holds.
pub(crate) const LEAST_SCRATCH: Size = Size::kibibytes(4);

/// Refuses a place of the box's own where it cannot be made or would be hidden.
pub(crate) fn check_scratch(path: &Path, size: Size, grants: &[Grant]) -> Result<(), BoxError> {
    let refuse = |problem: &str| BoxError::field("scratch", format!("has `{}`, {problem}", path.display()));
    let taken = ["/proc", "/dev", "/etc", "/sys"].into_iter().chain(SYSTEM).any(|own| path.starts_with(own));
    let present = ["/", "/home", "/tmp", "/var/tmp", INNER_HOME].iter().any(|own| path == Path::new(own));
    if !is_plain(path) || taken || present {
        return Err(refuse("but a place must be absolute, without `..`, and none that the box or the base system has"));
    }
    if let Some(grant) = grants.iter().find(|grant| path.starts_with(&grant.target)) {
        return Err(refuse(&format!("which is in `{}`, a path of the host", grant.target.display())));
    }
    if size < LEAST_SCRATCH {
        return Err(refuse(&format!("whose size is {size}, but must be at least {LEAST_SCRATCH}")));
    }
    Ok(())
}

/// Whether a path is absolute and says where it leads without detours.
pub(crate) fn is_plain(path: &Path) -> bool {
    path.is_absolute() && path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)))
}
