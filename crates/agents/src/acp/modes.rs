//! What a new session is told before the first prompt: who decides about tools, and which model is used.
//!
//! Agents offer modes as `modes`, as `configOptions`, or both, and every one has its own names for them. A person who
//! wants to be asked, or wants a plan, never gets less than that: what cannot be set is a refusal.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Who decides about a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Decides {
    /// Nobody: every call is allowed. A worktree of its own is what makes this bearable as the default.
    Nobody,
    /// The person.
    Person,
    /// The person, after the agent has shown a plan.
    PersonAfterPlan,
}

/// What a person wants of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Wanted {
    pub(super) decides: Decides,
    /// The agent's own name of a mode, where the profile gives one.
    pub(super) mode: Option<String>,
    /// The model, where it is not told on the command line.
    pub(super) model: Option<String>,
}

/// One thing to set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Setting {
    pub(super) method: String,
    pub(super) params: Value,
    /// A session that refuses it is not used.
    pub(super) must: bool,
}

/// The names of modes in which an agent asks nobody, the most common first.
const NOBODY: &[&str] = &["yolo", "bypassPermissions", "auto-high", "agent-full-access", "full-access"];

/// The names of modes in which an agent asks before it changes something.
const PERSON: &[&str] = &["default", "normal", "ask", "agent", "build", "auto"];

/// The names of modes in which an agent only plans.
const PLAN: &[&str] = &["plan", "spec", "architect", "read-only"];

/// Returns what to set in a session that was just opened, by what it offers, or says what it does not offer.
///
/// After a session was loaded its mode is set even when it is right: an agent may still be telling what was before,
/// and answers this only afterwards.
pub(super) fn settings(
    opened: &Value,
    session: &str,
    wanted: &Wanted,
    loaded: bool,
) -> Result<Vec<Setting>, String> {
    let offer = Offer { opened, session };
    let mut settings = Vec::new();
    settings.extend(offer.mode(wanted, loaded)?);
    settings.extend(offer.allow_all(wanted.decides));
    if let Some(model) = &wanted.model {
        settings.extend(offer.model(model)?);
    }
    Ok(settings)
}

struct Offer<'a> {
    opened: &'a Value,
    session: &'a str,
}

/// Something that can be chosen: by which request, from which values, and what is chosen now.
struct Selector<'a> {
    method: &'static str,
    /// The parameter that names the value, and the option it is a value of.
    key: &'static str,
    option: Option<&'a str>,
    values: Vec<&'a str>,
    current: &'a str,
}

impl<'a> Offer<'a> {
    fn mode(&self, wanted: &Wanted, loaded: bool) -> Result<Option<Setting>, String> {
        let selectors =
            || self.listed("modes", "session/set_mode", "modeId").into_iter().chain(self.options("mode"));
        let Some(selector) = selectors().next() else {
            return match (&wanted.mode, wanted.decides) {
                (Some(mode), _) => Err(format!("offers no modes, so {mode} cannot be set")),
                (None, Decides::PersonAfterPlan) => Err("offers no mode for planning".to_string()),
                (None, _) => Ok(None),
            };
        };
        let named = |name: &str| selector.values.iter().copied().find(|value| is_named(value, name));
        let first = |names: &[&str]| names.iter().find_map(|name| named(name));
        let value =
            match (&wanted.mode, wanted.decides) {
                (Some(mode), _) => Some(named(mode).ok_or_else(|| {
                    format!("offers no mode {mode}; it offers {}", selector.values.join(", "))
                })?),
                (None, Decides::Nobody) => first(NOBODY),
                (None, Decides::Person) => first(PERSON),
                (None, Decides::PersonAfterPlan) => match first(&PLAN[..PLAN.len() - 1]) {
                    Some(value) => Some(value),
                    // Planning may be an option beside the modes.
                    None => match self.any_option_with("plan") {
                        Some(setting) => return Ok(Some(setting)),
                        None => Some(first(PLAN).ok_or("offers no mode for planning")?),
                    },
                },
            };
        let must = wanted.mode.is_some() || wanted.decides != Decides::Nobody;
        let value = value.or((loaded && !selector.current.is_empty()).then_some(selector.current));
        Ok(value
            .filter(|value| loaded || *value != selector.current)
            .map(|value| self.set(&selector, value, must)))
    }

    /// Some have a switch beside the modes that allows every tool.
    fn allow_all(&self, decides: Decides) -> Option<Setting> {
        let selector = self.options("permissions").next()?;
        let value = if decides == Decides::Nobody { "on" } else { "off" };
        let offered = selector.values.contains(&value) && selector.current != value;
        offered.then(|| self.set(&selector, value, decides != Decides::Nobody))
    }

    fn model(&self, model: &str) -> Result<Option<Setting>, String> {
        let offered =
            self.options("model").next().or_else(|| self.listed("models", "session/set_model", "modelId"));
        let selector =
            offered.ok_or_else(|| format!("offers no choice of models, so {model} cannot be set"))?;
        let exact = selector.values.iter().find(|value| **value == model);
        let tail = || selector.values.iter().find(|value| value.rsplit('/').next() == Some(model));
        let value = exact
            .or_else(tail)
            .ok_or_else(|| format!("offers no model {model}; it offers {}", selector.values.join(", ")))?;
        Ok((*value != selector.current).then(|| self.set(&selector, value, true)))
    }

    fn set(&self, selector: &Selector<'_>, value: &str, must: bool) -> Setting {
        let mut params = json!({"sessionId": self.session, selector.key: value});
        if let Some(option) = selector.option {
            params["configId"] = json!(option);
        }
        Setting { method: selector.method.to_string(), params, must }
    }

    /// Reads a list of its own: `modes` or `models`.
    fn listed(&self, list: &str, method: &'static str, key: &'static str) -> Option<Selector<'a>> {
        let (available, current) = match list {
            "modes" => ("availableModes", "currentModeId"),
            _ => ("availableModels", "currentModelId"),
        };
        let list = self.opened.get(list)?;
        let id = |item: &'a Value| item.get(if key == "modeId" { "id" } else { key })?.as_str();
        let values: Vec<_> = list.get(available)?.as_array()?.iter().filter_map(id).collect();
        let current = list.get(current).and_then(Value::as_str).unwrap_or_default();
        (!values.is_empty()).then_some(Selector { method, key, option: None, values, current })
    }

    /// Reads the options of a category.
    fn options(&self, category: &'a str) -> impl Iterator<Item = Selector<'a>> {
        let of_category =
            move |option: &&Value| option.get("category").and_then(Value::as_str) == Some(category);
        self.all_options().filter(of_category).filter_map(selector)
    }

    fn any_option_with(&self, value: &str) -> Option<Setting> {
        let mut selectors = self.all_options().filter_map(selector);
        let selector = selectors.find(|selector| selector.values.contains(&value))?;
        Some(self.set(&selector, value, true))
    }

    fn all_options(&self) -> impl Iterator<Item = &'a Value> {
        let options = self.opened.get("configOptions").and_then(Value::as_array);
        options.map_or(&[][..], Vec::as_slice).iter()
    }
}

fn selector(option: &Value) -> Option<Selector<'_>> {
    let mut values = Vec::new();
    gather(option.get("options")?, &mut values);
    let current = option.get("currentValue").and_then(Value::as_str).unwrap_or_default();
    let option = Some(option.get("id")?.as_str()?);
    (!values.is_empty()).then_some(Selector {
        method: "session/set_config_option",
        key: "value",
        option,
        values,
        current,
    })
}

/// Gathers the values of a list that may be cut into groups.
fn gather<'a>(list: &'a Value, values: &mut Vec<&'a str>) {
    for item in list.as_array().map_or(&[][..], Vec::as_slice) {
        match (item.get("value").and_then(Value::as_str), item.get("options")) {
            (Some(value), _) => values.push(value),
            (None, Some(group)) => gather(group, values),
            (None, None) => {}
        }
    }
}

/// Compares the id of a mode with a name; some ids are addresses that end in the name.
fn is_named(id: &str, name: &str) -> bool {
    id == name || id.rsplit_once('#').is_some_and(|(_, last)| last == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(decides: Decides) -> Wanted {
        Wanted { decides, mode: None, model: None }
    }

    fn modes(current: &str, ids: &[&str]) -> Value {
        let available: Vec<_> = ids.iter().map(|id| json!({"id": id})).collect();
        json!({"modes": {"availableModes": available, "currentModeId": current}})
    }

    fn option(id: &str, category: &str, current: &str, values: &[&str]) -> Value {
        let values: Vec<_> = values.iter().map(|value| json!({"value": value})).collect();
        json!({"id": id, "category": category, "currentValue": current, "options": values})
    }

    fn told(opened: &Value, wanted: &Wanted, loaded: bool) -> Vec<String> {
        let told = |setting: Setting| {
            let name = |key: &str| setting.params.get(key).and_then(Value::as_str).unwrap_or_default();
            let method = setting.method.trim_start_matches("session/");
            format!("{method} {}{}{}{}", name("configId"), name("modeId"), name("modelId"), name("value"))
        };
        settings(opened, "s", wanted, loaded).unwrap().into_iter().map(told).collect()
    }

    #[test]
    fn every_agent_has_its_own_names_for_the_same_three_modes() {
        const COPILOT: &str = "https://agentclientprotocol.com/protocol/session-modes#";
        let copilot = |name: &str| format!("{COPILOT}{name}");
        let (agent, plan) = (copilot("agent"), copilot("plan"));
        let cases = [
            (modes("default", &["default", "autoEdit", "yolo", "plan"]), "yolo", "", "plan"),
            // This one starts in a mode that asks less than a person expects who wants to be asked.
            (modes("auto", &["plan", "default", "auto-edit", "auto", "yolo"]), "yolo", "default", "plan"),
            (
                modes("normal", &["normal", "spec", "auto-low", "auto-medium", "auto-high"]),
                "auto-high",
                "",
                "spec",
            ),
            (
                modes("default", &["auto", "default", "acceptEdits", "plan", "bypassPermissions"]),
                "bypassPermissions",
                "",
                "plan",
            ),
            (modes(&agent, &[&agent, &plan]), "", "", plan.as_str()),
        ];
        for (opened, nobody, person, plan) in cases {
            let one = |mode: &str| Vec::from_iter((!mode.is_empty()).then(|| format!("set_mode {mode}")));
            assert_eq!(told(&opened, &wanted(Decides::Nobody), false), one(nobody));
            assert_eq!(told(&opened, &wanted(Decides::Person), false), one(person));
            assert_eq!(told(&opened, &wanted(Decides::PersonAfterPlan), false), one(plan));
        }
    }

    #[test]
    fn modes_may_be_options() {
        let opened = json!({"configOptions": [
            option("model", "model", "fake/one", &["fake/one", "fake/two"]),
            option("mode", "mode", "build", &["build", "plan"]),
        ]});
        assert!(told(&opened, &wanted(Decides::Person), false).is_empty());
        assert_eq!(told(&opened, &wanted(Decides::PersonAfterPlan), false), ["set_config_option modeplan"]);
        let model = Wanted { model: Some("two".into()), ..wanted(Decides::Nobody) };
        assert_eq!(told(&opened, &model, false), ["set_config_option modelfake/two"]);
        let unknown = Wanted { model: Some("three".into()), ..wanted(Decides::Nobody) };
        let refused = settings(&opened, "s", &unknown, false).unwrap_err();
        assert_eq!(refused, "offers no model three; it offers fake/one, fake/two");
    }

    #[test]
    fn a_switch_that_allows_everything_is_set_as_the_person_wants_it() {
        let opened =
            |current| json!({"configOptions": [option("allow_all", "permissions", current, &["on", "off"])]});
        assert_eq!(told(&opened("off"), &wanted(Decides::Nobody), false), ["set_config_option allow_allon"]);
        assert_eq!(told(&opened("on"), &wanted(Decides::Person), false), ["set_config_option allow_alloff"]);
        assert!(told(&opened("off"), &wanted(Decides::Person), false).is_empty());
    }

    #[test]
    fn planning_may_be_an_option_of_its_own() {
        let mut opened = modes("agent", &["read-only", "workspace-write", "agent"]);
        assert_eq!(told(&opened, &wanted(Decides::PersonAfterPlan), false), ["set_mode read-only"]);
        opened["configOptions"] =
            json!([option("collaboration_mode", "collaboration_mode", "default", &["default", "plan"])]);
        assert_eq!(
            told(&opened, &wanted(Decides::PersonAfterPlan), false),
            ["set_config_option collaboration_modeplan"]
        );
    }

    #[test]
    fn a_plan_that_cannot_be_had_is_refused_and_yolo_is_not_needed() {
        let opened = modes("only", &["only"]);
        assert!(settings(&opened, "s", &wanted(Decides::PersonAfterPlan), false).is_err());
        assert!(settings(&json!({}), "s", &wanted(Decides::PersonAfterPlan), false).is_err());
        assert!(told(&opened, &wanted(Decides::Nobody), false).is_empty());
        let named = Wanted { mode: Some("other".into()), ..wanted(Decides::Person) };
        assert_eq!(
            settings(&opened, "s", &named, false).unwrap_err(),
            "offers no mode other; it offers only"
        );
        assert!(settings(&json!({}), "s", &named, false).is_err());
    }

    #[test]
    fn a_loaded_session_is_told_its_mode_even_when_it_is_right() {
        let opened = modes("default", &["default", "plan"]);
        assert_eq!(told(&opened, &wanted(Decides::Person), true), ["set_mode default"]);
        assert_eq!(told(&opened, &wanted(Decides::Nobody), true), ["set_mode default"]);
    }

    #[test]
    fn options_in_groups_are_found() {
        let groups = json!([{"group": "a", "options": [{"value": "x"}]}, {"value": "y"}]);
        let opened = json!({"configOptions": [{"id": "model", "category": "model", "options": groups}]});
        let model = Wanted { model: Some("x".into()), ..wanted(Decides::Nobody) };
        assert_eq!(told(&opened, &model, false), ["set_config_option modelx"]);
    }
}
