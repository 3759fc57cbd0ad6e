//! Images over real connections: forms of both spellings, refusals, and the bytes again.

use serde_json::{Value, json};

use crate::world::{Answer, World, id};

/// A picture that is text too, so that an answer can be read as text.
const GIF: &[u8] = b"GIF89a not much of a picture";

const SVG: &[u8] = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>";

pub(crate) fn upload(world: &World, path: &str, part: &str, name: &str, bytes: &[u8]) -> Answer {
    let head = format!(
        "--edge\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nhello\r\n--edge\r\n\
         Content-Disposition: form-data; name=\"{part}\"; filename=\"{name}\"\r\n\
         Content-Type: application/octet-stream\r\n\r\n"
    );
    let body = [head.as_bytes(), bytes, b"\r\n--edge--\r\n"].concat();
    world.send("POST", path, &[("Content-Type", "multipart/form-data; boundary=edge")], &body)
}

fn task(world: &World, project: &str, images: &Value) -> Answer {
    world.post("/api/tasks", &json!({"project_id": project, "title": "look", "image_ids": images}))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_is_read_from_either_part_and_is_one_image() {
    let world = World::new().await;
    let first = upload(&world, "/api/images/upload", "image", "shot.gif", GIF).data();
    let again = upload(&world, "/api/images/upload", "file", "other.gif", GIF).data();
    assert_eq!(first["id"], again["id"]);
    assert_eq!(first["original_name"], "shot.gif");
    assert_eq!(first["mime_type"], "image/gif");
    assert_eq!(first["size_bytes"], GIF.len());
    let hash = first["hash"].as_str().unwrap();
    assert_eq!(first["file_path"], format!(".forge-images/{hash}.gif"));
    let file = world.get(&format!("/api/images/{}/file", id(&first)));
    assert_eq!((file.status, file.text.as_bytes()), (200, GIF));
    assert_eq!(file.header("content-type"), Some("image/gif"));
    assert_eq!(file.header("content-length"), Some(GIF.len().to_string().as_str()));
    assert_eq!(file.header("cache-control"), Some("public, max-age=31536000"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drawing_is_shown_in_a_sandbox() {
    let world = World::new().await;
    let drawing = upload(&world, "/api/images/upload", "image", "a.svg", SVG).data();
    let file = world.get(&format!("/api/images/{}/file", id(&drawing)));
    assert!(file.header("content-security-policy").unwrap().contains("sandbox"), "{file:?}");
    assert_eq!(file.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(file.header("content-type"), Some("image/svg+xml"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_picture_is_refused_with_the_sentence_that_clients_know() {
    let world = World::new().await;
    let refuse = |part: &str, name: &str, bytes: &[u8], status: u16| {
        upload(&world, "/api/images/upload", part, name, bytes).refusal(status)
    };
    assert!(refuse("image", "a.txt", GIF, 400).contains("not supported"));
    assert!(refuse("image", "a.gif", b"<html>", 400).contains("does not hold an image"));
    assert!(refuse("image", "a.gif", b"", 400).contains("is empty"));
    assert_eq!(refuse("picture", "a.gif", GIF, 404), "Image not found.");
    let large = [GIF, &vec![b'x'; 21 * 1024 * 1024]].concat();
    let told = refuse("image", "a.gif", &large, 413);
    assert_eq!(told, "This image is too large (21.0 MB). Maximum file size is 20.0 MB.");
    let sentence = "Failed to upload file. Please ensure the file is valid and try again.";
    assert_eq!(world.post("/api/images/upload", &json!({})).refusal(400), sentence);
    let torn = [("Content-Type", "multipart/form-data; boundary=edge")];
    assert_eq!(world.send("POST", "/api/images/upload", &torn, b"--edge\r\n").refusal(400), sentence);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_has_the_images_it_was_given() {
    let world = World::new().await;
    let project = world.project();
    let first = id(&upload(&world, "/api/images/upload", "image", "a.gif", GIF).data());
    let made = id(&task(&world, &project, &json!([first])).data());
    let path = format!("/api/images/task/{made}");
    assert_eq!(world.get(&path).data()[0]["id"], json!(first));
    let second = id(&upload(&world, &format!("{path}/upload"), "file", "b.svg", SVG).data());
    assert_eq!(world.get(&path).data().as_array().unwrap().len(), 2);
    world.put(&format!("/api/tasks/{made}"), &json!({"image_ids": [second]})).data();
    let left = world.get(&path).data();
    assert_eq!(left.as_array().unwrap().len(), 1);
    assert_eq!(left[0]["id"], json!(second));
    let nobody = "6a0c2f1e-8f6b-4c1d-9a53-0d1f2e3a4b5c";
    assert!(task(&world, &project, &json!([nobody])).refusal(422).contains(nobody));
    assert!(task(&world, &project, &json!(["x"])).refusal(422).contains("`image_ids`"));
    let unknown = format!("/api/images/task/{nobody}/upload");
    assert!(upload(&world, &unknown, "image", "a.gif", GIF).refusal(404).contains(nobody));
}

#[tokio::test(flavor = "multi_thread")]
async fn deleting_an_image_twice_is_as_good_as_once() {
    let world = World::new().await;
    let image = id(&upload(&world, "/api/images/upload", "image", "a.gif", GIF).data());
    for _ in 0..2 {
        assert!(world.call("DELETE", &format!("/api/images/{image}"), &[], None).data().is_null());
    }
    assert_eq!(world.get(&format!("/api/images/{image}/file")).refusal(404), "Image not found.");
}
