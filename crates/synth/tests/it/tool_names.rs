//! Noun phrases for tools' names.

use std::collections::BTreeSet;

use planproof_synth::{TopicBank, snake_case, texts_of_tool_names};

/// Names as servers of many kinds have them, with the tasks that a reader would name.
const NAMES: [(&str, &str); 60] = [
    // Customers and support.
    ("authenticate_user", "user authentication"),
    ("lock_account", "account locking"),
    ("escalate_ticket", "ticket escalation"),
    ("log_call", "call logging"),
    ("qualify_lead", "lead qualification"),
    ("reopen_case", "case reopening"),
    ("merge_contacts", "contact merge"),
    ("deduplicateContacts", "contact deduplication"),
    ("hubspot_create_deal", "hubspot deal creation"),
    ("zendesk.tickets.close", "zendesk ticket closing"),
    // Money.
    ("issue_refund", "refund issuance"),
    ("charge_card", "card charge"),
    ("void_invoice", "invoice voiding"),
    ("refund_order", "order refund"),
    ("refund_payment", "payment refund"),
    ("flag_fraud", "fraud flagging"),
    ("cancel_subscription", "subscription cancellation"),
    ("capture_payment", "payment capture"),
    ("reconcile_accounts", "account reconciliation"),
    ("freeze_card", "card freezing"),
    ("withdraw_funds", "fund withdrawal"),
    ("deposit_check", "check deposit"),
    ("invoice_customer", "customer invoicing"),
    ("dispute_charge", "charge dispute"),
    // Shops.
    ("ship_order", "order shipping"),
    ("restock_item", "item restocking"),
    ("redeem_voucher", "voucher redemption"),
    ("track_shipment", "shipment tracking"),
    ("return_item", "item return"),
    ("order_status", "order status"),
    // Calendars, mail and chat.
    ("book_meeting", "meeting booking"),
    ("reschedule_appointment", "appointment rescheduling"),
    ("decline_invitation", "invitation refusal"),
    ("send_notification", "notification sending"),
    ("email_customer", "customer emailing"),
    ("draft_reply", "reply drafting"),
    ("mute_channel", "channel muting"),
    ("slack_post_message", "slack message posting"),
    ("pin_message", "message pinning"),
    ("gmail-mark-as-read", "gmail marking as read"),
    // Operations and files.
    ("provision_server", "server provisioning"),
    ("scale_deployment", "deployment scaling"),
    ("rollback_release", "release rollback"),
    ("rotate_keys", "key rotation"),
    ("drain_node", "node draining"),
    ("acknowledge_alert", "alert acknowledgement"),
    ("github_list_pull_requests", "github pull request listing"),
    ("browser_take_screenshot", "browser screenshot taking"),
    ("encrypt_file", "file encryption"),
    ("compress_folder", "folder compression"),
    ("unzip_archive", "archive unzipping"),
    ("issue_read", "issue reading"),
    ("error_log", "error log"),
    // People.
    ("onboard_employee", "employee onboarding"),
    ("terminate_contract", "contract termination"),
    ("promote_employee", "employee promotion"),
    ("grant_access", "access grant"),
    ("log_hours", "hour logging"),
    ("weather_forecast", "weather forecast"),
    ("escalate", "escalation"),
];

/// The text of a name that is its server's only one.
fn text(name: &str) -> String {
    texts_of_tool_names([name], []).pop().flatten().map(|it| it.text).unwrap_or_default()
}

#[test]
fn realistic_names_become_tasks() {
    let wrong: Vec<_> = NAMES
        .iter()
        .filter(|(name, task)| text(name) != *task)
        .map(|(name, task)| format!("{name}: \"{}\", expected \"{task}\"", text(name)))
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), NAMES.len(), wrong.join("\n"));
}

/// The activities that come with planproof are noun phrases already, so that none may be taken for an order.
#[test]
fn noun_phrases_stay_as_they_are() {
    let texts = TopicBank::shipped().topics().iter().flat_map(|topic| &topic.activities);
    let names: BTreeSet<String> = texts.map(|activity| snake_case(&activity.text)).collect();
    // Somebody's tools could be meant to do what these say.
    const EITHER: [&str; 4] =
        ["export_certificate_application", "grant_application", "sign_language_course", "zip_supplier_call"];
    let changed: Vec<_> = names
        .iter()
        .filter(|name| !EITHER.contains(&name.as_str()))
        .map(|name| (name, text(name)))
        .filter(|(name, text)| snake_case(text) != **name)
        .map(|(name, text)| format!("{name}: {text}"))
        .collect();
    assert!(changed.is_empty(), "{} of {}:\n{}", changed.len(), names.len(), changed.join("\n"));
}
