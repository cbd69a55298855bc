//! Who sees the user's credentials: the registry they are for, and nobody else.

use crate::registry::{Registry, TOKEN};
use crate::scene::{Scene, Steps, block_on};
use kennel_packages::InstallError;
use std::fs;
use std::path::Path;

/// Writes down all that a step of a package can see.
const SPY: &str = "
const fs = require('fs'), seen = { env: process.env, files: {} };
const look = (path, depth) => {
    try {
        const what = fs.statSync(path);
        if (what.isDirectory()) {
            if (depth > 0) for (const name of fs.readdirSync(path)) look(path + '/' + name, depth - 1);
        } else if (what.size < 65536) seen.files[path] = fs.readFileSync(path, 'utf8');
    } catch {}
};
const tell = () => fs.writeFileSync('seen.json', JSON.stringify(seen));
look(process.env.HOME, 9);
look('/tmp', 9);
for (const name of ['.npmrc', '.config', '.ssh', '.aws', '.netrc']) look('/root/' + name, 3);
tell();
";

pub(crate) fn credentials_reach_the_download_and_nothing_else() {
    let (mut scene, registry) = (Scene::new(), Registry::start());
    // Twice: as a file, and by way of a variable.
    let npmrc = registry.npmrc().replace(TOKEN, "${CORP_TOKEN}");
    scene.write_npmrc(&npmrc);
    scene.variables.push(("CORP_TOKEN".into(), TOKEN.into()));
    registry.publish("1.0.0", SPY, &scene.root);
    let steps = Steps::default();
    let installed = block_on(scene.ensure(&["npx", "@corp/tool"], &steps)).unwrap();
    assert!(registry.requests().iter().all(|request| request.ends_with(TOKEN)), "{:?}", registry.requests());

    let seen = installed.reads[0].join("node_modules/@corp/tool/seen.json");
    let seen = fs::read_to_string(seen).expect("the package's own step ran");
    assert!(!seen.contains(TOKEN), "the package's own step saw the token");
    assert_no_file_holds(&scene.root.join("store"), TOKEN);
    let shown = format!("{installed:?} {:?} {:?}", steps.all(), block_on(scene.store.list()).unwrap());
    assert!(!shown.contains(TOKEN), "{shown}");
    assert_eq!(block_on(scene.run(&installed)), "1.0.0\n");

    // An installer that is refused says a lot, and none of it.
    scene.write_npmrc(&registry.npmrc().replace(TOKEN, "an0ther-t0k3n-value"));
    let mistaken = format!("http://ada:{TOKEN}@127.0.0.1:{}/", registry.port());
    scene.variables.push(("NPM_CONFIG_@CORP:REGISTRY".into(), mistaken.into()));
    let error = block_on(scene.ensure(&["npx", "@corp/tool@2"], &Steps::default())).unwrap_err();
    let text = format!("{error} {error:?}");
    assert!(matches!(error, InstallError::Failed { .. }), "{text}");
    assert!(!text.contains(TOKEN) && !text.contains("an0ther-t0k3n-value"), "{text}");
}

/// Tries to connect to ports of this machine, each by its name, and writes down what came of it.
const CONNECT: &str = "
const fs = require('fs'), net = require('net'), seen = {};
const ports = PORTS;
for (const [name, port] of Object.entries(ports)) {
    const socket = net.connect(port, '127.0.0.1');
    const done = what => { seen[name] = what; fs.writeFileSync('seen.json', JSON.stringify(seen)); socket.destroy(); };
    socket.on('connect', () => done('connected'));
    socket.on('error', error => done(error.code));
}
const listener = net.createServer();
const told = what => { seen.listen = what; fs.writeFileSync('seen.json', JSON.stringify(seen)); listener.close(); };
listener.on('error', error => told(error.code));
listener.listen(0, '127.0.0.1', () => told('listens'));
";

pub(crate) fn an_install_step_reaches_no_other_port_of_this_machine() {
    let (scene, registry) = (Scene::new(), Registry::start());
    // As Kennel's own endpoint, or anything else that trusts whoever comes from this machine.
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port();
    scene.write_npmrc(&registry.npmrc());
    let ports = serde_json::json!({ "registry": registry.port(), "other": port });
    registry.publish("1.0.0", &CONNECT.replace("PORTS", &ports.to_string()), &scene.root);
    let installed = block_on(scene.ensure(&["npx", "@corp/tool"], &Steps::default())).unwrap();
    let seen = fs::read_to_string(installed.reads[0].join("node_modules/@corp/tool/seen.json")).unwrap();
    let seen: serde_json::Value = serde_json::from_str(&seen).unwrap();
    assert_eq!(seen, serde_json::json!({ "registry": "connected", "other": "EACCES", "listen": "EACCES" }));
    other.set_nonblocking(true).unwrap();
    assert!(other.accept().is_err(), "somebody connected");
}

pub(crate) fn the_installer_sees_nothing_else_of_the_user() {
    let (mut scene, registry) = (Scene::new(), Registry::start());
    scene.write_npmrc(&registry.npmrc());
    fs::write(scene.root.join("work/private"), "pr1vate-file").unwrap();
    scene.variables.push(("AWS_SECRET_ACCESS_KEY".into(), "pr1vate-variable".into()));
    let spy =
        format!("{SPY}\nfor (const path of ['{}', '/etc/shadow']) look(path, 2);\n", scene.root.join("work").display());
    let spy = spy + "fs.writeFileSync('seen.json', JSON.stringify(seen));";
    registry.publish("1.0.0", &spy, &scene.root);
    let installed = block_on(scene.ensure(&["npx", "@corp/tool"], &Steps::default())).unwrap();
    let seen = fs::read_to_string(installed.reads[0].join("node_modules/@corp/tool/seen.json")).unwrap();
    assert!(!seen.contains("pr1vate"), "the box showed more than it should");
    let seen: serde_json::Value = serde_json::from_str(&seen).unwrap();
    assert!(seen["files"].get("/etc/shadow").is_none(), "the box showed the host's /etc");
    assert!(!scene.root.join("work/package-lock.json").exists());
}

pub(crate) fn assert_no_file_holds(directory: &Path, secret: &str) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let kind = path.symlink_metadata().unwrap().file_type();
        if kind.is_dir() {
            assert_no_file_holds(&path, secret);
        } else if kind.is_file() {
            let content = fs::read(&path).unwrap();
            let holds = content.windows(secret.len()).any(|part| part == secret.as_bytes());
            assert!(!holds, "{} holds the secret", path.display());
        }
    }
}
