//! Attempts on the process's own surroundings: its parent, process 1 and inherited descriptors.

use crate::Runner;
use crate::finding::{Finding, blocked, escaped};
use crate::outside::{take_descriptor, trace, vm_read};
use crate::scene::Scene;

pub(crate) const RUNNERS: &[(&str, Runner)] = &[
    ("trace_parent", |scene| trace(scene.parent())),
    ("trace_init", |_| trace(1)),
    ("vm_read_init", |_| vm_read(1)),
    ("take_descriptor_of_init", |_| take_descriptor(1)),
    ("inherited_descriptors", |scene| Ok(inherited_descriptors(scene))),
];

fn inherited_descriptors(scene: &Scene) -> Finding {
    if scene.inherited().is_empty() {
        return blocked("no descriptor above 2");
    }
    let names: Vec<String> =
        scene.inherited().iter().map(|(descriptor, target)| format!("{descriptor} is {target}")).collect();
    escaped(names.join(", "))
}
