//! Looking around, finding files and opening editors, over real connections.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;

use crate::world::{World, eventually};

#[tokio::test(flavor = "multi_thread")]
async fn the_home_and_projects_are_listed_and_nothing_else() {
    let world = World::new().await;
    let person = world.dir.path().canonicalize().unwrap().join("person");
    fs::create_dir(person.join("code")).unwrap();
    fs::write(person.join("a file"), "").unwrap();
    fs::write(person.join(".hidden"), "").unwrap();
    let listed = world.get("/api/filesystem/directory").data();
    assert_eq!(listed["current_path"], person.to_str().unwrap());
    let code = json!({
        "name": "code", "path": person.join("code"), "is_directory": true, "is_git_repo": false,
        "last_modified": null,
    });
    assert_eq!(listed["entries"][0], code);
    assert_eq!(listed["entries"][1]["name"], "a file");
    assert_eq!(listed["entries"].as_array().unwrap().len(), 2);
    let repository = world.repository("person/code/repository");
    let found = world.get("/api/filesystem/git-repos").data();
    assert_eq!(found[0]["path"], repository.to_str().unwrap());
    assert!(found[0]["last_modified"].is_u64() && found[0]["is_git_repo"] == true, "{found}");
    let secret = world.dir.path().join("secret");
    fs::create_dir(&secret).unwrap();
    symlink(&secret, person.join("out")).unwrap();
    let out = person.join("out");
    for path in ["/", "/etc", "/not/there", secret.to_str().unwrap(), out.to_str().unwrap(), "../x"] {
        for route in ["directory", "git-repos"] {
            let told = world.get(&format!("/api/filesystem/{route}?path={path}")).refusal(403);
            assert!(told.contains("outside of your home") || told.contains("must be absolute"), "{told}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_listed_is_told_with_200_in_the_words_that_clients_know() {
    let world = World::new().await;
    let person = world.dir.path().canonicalize().unwrap().join("person");
    fs::write(person.join("file"), "").unwrap();
    let told = |route: &str, name: &str| {
        let path = person.join(name);
        world.get(&format!("/api/filesystem/{route}?path={}", path.display())).refusal(200)
    };
    for route in ["directory", "git-repos"] {
        assert_eq!(told(route, "gone"), "Directory does not exist");
        assert_eq!(told(route, "file"), "Path is not a directory");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_found_whatever_an_older_client_sends_as_the_mode() {
    let world = World::new().await;
    let project = world.project();
    let search = |query: &str| world.get(&format!("/api/projects/{project}/search?{query}"));
    let readme = json!([{"path": "README.md", "is_file": true, "match_type": "FileName"}]);
    for query in ["q=readme", "q=readme&mode=taskform", "q=READ&mode=settings", "q=readme&mode=FileName"] {
        assert_eq!(search(query).data(), readme, "{query}");
    }
    assert_eq!(search("q=nothing-like-this").data(), json!([]));
    for query in ["", "q=", "q=%20"] {
        let told = search(query).refusal(200);
        assert_eq!(told, "Query parameter 'q' is required and cannot be empty");
    }
    world.get("/api/projects/00000000-0000-4000-8000-000000000000/search?q=x").refusal(404);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_editor_is_opened_with_no_body_null_or_either_spelling() {
    let world = World::new().await;
    let project = world.project();
    let started = world.start(&project, "Open it", "say hi");
    let attempt = started["attempt_id"].as_str().unwrap().to_string();
    world.wait_for(&attempt, "finished");
    let (program, noted) = (world.dir.path().join("editor"), world.dir.path().join("noted"));
    let script = format!("#!/bin/sh\necho \"$@\" > '{0}.part'\nmv '{0}.part' '{0}'\n", noted.display());
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let editor = json!({"editor": {"editor_type": "CUSTOM", "custom_command": program}});
    world.put("/api/config", &editor).data();
    let routes =
        [format!("/api/projects/{project}/open-editor"), format!("/api/task-attempts/{attempt}/open-editor")];
    let typed = [("Content-Type", "application/json")];
    for route in &routes {
        let bodies: [(&[(&str, &str)], &str); 5] = [
            (&[], ""),
            (&typed, ""),
            (&typed, "null"),
            (&typed, "{\"file_path\":\"README.md\",\"editor_type\":null}"),
            (&typed, "{\"file\":\"README.md\",\"line\":1}"),
        ];
        for (headers, body) in bodies {
            let opened = world.send("POST", route, headers, body.as_bytes()).data();
            assert_eq!(opened, json!({"url": null}), "{route} {body}");
            let text = eventually(|| fs::read_to_string(&noted).ok());
            assert_eq!(text.trim_end().ends_with("/README.md"), body.contains("README"), "{text}");
            fs::remove_file(&noted).unwrap();
        }
        assert!(world.post(route, &json!({"file_path": "../x"})).refusal(422).contains("`file_path`"));
        assert!(world.post(route, &json!({"line": 0})).refusal(422).contains("`line`"));
        assert!(world.post(route, &json!({"editor_type": "ED"})).refusal(422).contains("`editor_type`"));
        world.send("POST", route, &typed, b"[]").refusal(422);
    }
    let remote =
        json!({"editor": {"editor_type": "VS_CODE", "remote_ssh_host": "box", "remote_ssh_user": "ada"}});
    world.put("/api/config", &remote).data();
    for route in &routes {
        let url = world.post(route, &json!({})).data()["url"].as_str().unwrap().to_string();
        assert!(url.starts_with("vscode://vscode-remote/ssh-remote+ada@box/"), "{url}");
    }
}
