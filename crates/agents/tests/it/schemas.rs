//! The agents' settings as JSON schemas, kept as files for editors and forms: `shared/schemas/<agent>.json`.

use std::path::Path;

/// Set `FORGE_BLESS` to write them anew.
#[test]
fn the_schemas_of_all_agents_are_those_that_were_reviewed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/schemas");
    let bless = std::env::var_os("FORGE_BLESS").is_some();
    let mut known = Vec::new();
    for (agent, schema) in forge_agents::schemas() {
        let file = folder.join(format!("{agent}.json"));
        let made = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
        if bless {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&file, &made).unwrap();
        }
        let kept = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(kept == made, "{} is stale; write it anew with: npm run generate-types", file.display());
        known.push(file.file_name().unwrap().to_owned());
    }
    for entry in folder.read_dir().unwrap() {
        let name = entry.unwrap().file_name();
        assert!(known.contains(&name), "{name:?} in shared/schemas belongs to no agent");
    }
}
