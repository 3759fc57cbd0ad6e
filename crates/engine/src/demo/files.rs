//! The files of the demo's repository: a very small shop, and the scripts that its agent plays.

/// Each file of the repository and what is in it.
pub(super) const FILES: &[(&str, &str)] = &[
    ("README.md", include_str!("shop/README.md")),
    ("package.json", include_str!("shop/package.json")),
    ("check.sh", include_str!("shop/check.sh")),
    ("src/server.js", include_str!("shop/src/server.js")),
    ("src/catalog.js", include_str!("shop/src/catalog.js")),
    ("src/cart.js", include_str!("shop/src/cart.js")),
    ("src/prices.js", include_str!("shop/src/prices.js")),
    ("src/orders.js", include_str!("shop/src/orders.js")),
    ("src/old-tax.js", include_str!("shop/src/old-tax.js")),
    ("src/texts.js", include_str!("shop/src/texts.js")),
    ("test/cart.test.js", include_str!("shop/test/cart.test.js")),
    (".demo/cents.txt", include_str!("scripts/cents.txt")),
    (".demo/currency.txt", include_str!("scripts/currency.txt")),
    (".demo/coupons.txt", include_str!("scripts/coupons.txt")),
    (".demo/clear.txt", include_str!("scripts/clear.txt")),
    (".demo/translate.txt", include_str!("scripts/translate.txt")),
    (".demo/receipt.txt", include_str!("scripts/receipt.txt")),
    (".demo/remember.txt", include_str!("scripts/remember.txt")),
];

/// A task of the demo.
#[derive(Debug, Clone, Copy)]
pub(super) struct Story {
    pub(super) title: &'static str,
    /// What is wanted, and which script is played; the agent's own words are in there.
    pub(super) description: &'static str,
}

/// Is merged, so that it is done and the target has moved on.
pub(super) const LANDED: Story = Story {
    title: "Show prices with two digits",
    description: "A price of 6.90 is shown as $6.9.\n\nplay .demo/cents.txt",
};

/// Touches the same lines as the one that is merged, so that its rebase stops at a conflict.
pub(super) const CONFLICTED: Story = Story {
    title: "Show prices in the customer's currency",
    description: "Dollars, euros and pounds for now. Dollars stay the default.\n\nplay .demo/currency.txt",
};

/// Is finished, and can be merged.
pub(super) const READY: Story = Story {
    title: "Take coupons at the checkout",
    description: "- a code takes a percentage or an amount off\n- a total never falls below zero\n- the order says which \
                  coupon was used\n\nplay .demo/coupons.txt",
};

/// Waits for an approval.
pub(super) const WAITING: Story = Story {
    title: "Throw away carts that nobody came back for",
    description: "After 90 days, every night.\n\nplay .demo/clear.txt",
};

/// Works for minutes.
pub(super) const RUNNING: Story = Story {
    title: "Translate the shop",
    description: "Twelve languages, one file each. Keep the buttons short.\n\nplay .demo/translate.txt",
};

/// Nobody has started these.
pub(super) const WISHES: [Story; 2] = [
    Story {
        title: "Send a receipt by e-mail",
        description: "With the items, the total and the number of the order.\n\nplay .demo/receipt.txt",
    },
    Story {
        title: "Remember the cart between visits",
        description: "It is gone when the server restarts.\n\nplay .demo/remember.txt",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_story_names_a_script_that_is_in_the_repository() {
        for story in [LANDED, CONFLICTED, READY, WAITING, RUNNING].iter().chain(&WISHES) {
            let played = story.description.lines().find_map(|line| line.strip_prefix("play ")).unwrap();
            assert!(FILES.iter().any(|(path, _)| *path == played), "{played} is not there");
        }
    }
}
