import { containing, like, type Service } from "../contract.ts";
import { endpoint } from "../endpoint.ts";
import { basicAuth, bearerForm, oauth, open, slack, token } from "../families.ts";

/** Services with bodies of forms: Slack, Stripe, Twilio, Pastebin. */
const text = (value: string) => JSON.stringify([{ type: "section", text: { type: "mrkdwn", text: value } }]);
const posted = { ok: true, channel: "C1", ts: "1710304378.475129", message: { type: "message", text: "Tea" } };
const slackMessage = { type: "message", channel: "C1", channel_type: "channel", user: "U1", text: "Tea?", ts: "1710304378.475129" };
const slackEvent = (event: object, team = "T1") => ({ type: "event_callback", team_id: team, api_app_id: "A1", event });
/** What the token response of Slack nests: `team.id` and `authed_user`. */
const slackAuth = {
  ...oauth,
  team_id: "T1",
  authed_user_id: "U9",
  authed_user_access_token: "user-token",
};
const slackService: Service = {
  piece: "slack@0.17.9",
  family: slack,
  auth: slackAuth,
  cases: [
    {
      action: "slack_post_message",
      props: { channel: "C1", text: "Tea" },
      exchanges: [
        { request: "POST https://slack.com/api/chat.postMessage", body: { text: "Tea", channel: "C1", blocks: text("Tea") }, json: posted },
      ],
      returns: containing(posted),
    },
    {
      action: "slack_post_message",
      when: "the channel is unknown",
      props: { channel: "C9", text: "Tea" },
      exchanges: [
        {
          request: "POST https://slack.com/api/chat.postMessage",
          body: { text: "Tea", channel: "C9", blocks: text("Tea") },
          json: { ok: false, error: "channel_not_found" },
        },
      ],
      throws: like(/channel_not_found/),
    },
    {
      action: "slack_post_message",
      when: "Slack asks to wait a second",
      props: { channel: "C1", text: "Tea" },
      exchanges: [
        {
          request: "POST https://slack.com/api/chat.postMessage",
          body: { text: "Tea", channel: "C1", blocks: text("Tea") },
          status: 429,
          answerHeaders: { "retry-after": "1" },
          json: { ok: false, error: "ratelimited" },
        },
        { request: "POST https://slack.com/api/chat.postMessage", body: { text: "Tea", channel: "C1", blocks: text("Tea") }, json: posted },
      ],
      returns: containing(posted),
    },
    {
      action: "slack_list_channels",
      exchanges: [
        {
          request: "POST https://slack.com/api/conversations.list",
          body: { types: "public_channel,private_channel", exclude_archived: "true", limit: "1000" },
          json: { ok: true, channels: [{ id: "C1", name: "tea" }], response_metadata: { next_cursor: "" } },
        },
      ],
      returns: containing({ count: 1 }),
    },
    {
      configures: "action/send_channel_message",
      options: "channel",
      exchanges: [
        {
          request: "POST https://slack.com/api/conversations.list",
          body: { types: "public_channel,private_channel", exclude_archived: "true", limit: "1000" },
          json: { ok: true, channels: [{ id: "C1", name: "tea" }], response_metadata: { next_cursor: "" } },
        },
      ],
      gives: [{ label: "tea", value: "C1" }],
    },
    {
      action: "find_user_by_email",
      props: { email: "ada@example.com" },
      exchanges: [
        {
          request: "POST https://slack.com/api/users.lookupByEmail",
          body: { email: "ada@example.com" },
          json: { ok: true, user: { id: "U1", name: "ada" } },
        },
      ],
      returns: containing({ ok: true, user: { id: "U1", name: "ada" } }),
    },
    {
      action: "slack_add_reaction",
      props: { channel: "C1", ts: "1710304378.475129", reaction: "tea" },
      exchanges: [
        {
          request: "POST https://slack.com/api/reactions.add",
          body: { channel: "C1", timestamp: "1710304378.475129", name: "tea" },
          json: { ok: true },
        },
      ],
      returns: containing({ ok: true }),
    },
    {
      action: "slack_schedule_message",
      props: { channel: "C1", text: "Tea", postAt: 4070908800 },
      exchanges: [
        {
          request: "POST https://slack.com/api/chat.scheduleMessage",
          body: { channel: "C1", post_at: "4070908800", text: "Tea", blocks: text("Tea") },
          json: { ok: true, channel: "C1", scheduled_message_id: "Q1", post_at: 4070908800 },
        },
      ],
      returns: containing({ ok: true, scheduled_message_id: "Q1" }),
    },
    {
      action: "searchMessages",
      props: { query: "tea" },
      exchanges: [
        {
          request: "POST https://slack.com/api/search.messages",
          headers: { authorization: "Bearer user-token" },
          body: { query: "tea", count: "100", cursor: "*" },
          json: { ok: true, query: "tea", messages: { matches: [{ text: "Tea?" }], pagination: { page: 1, page_count: 1 } } },
        },
      ],
      returns: [{ text: "Tea?" }],
    },
    {
      action: "uploadFile",
      props: { file: "data:text/plain;base64,aGk=", filename: "note.txt", channel: "C1" },
      exchanges: [
        {
          request: "POST https://slack.com/api/files.getUploadURLExternal",
          body: { filename: "note.txt", length: "2" },
          json: { ok: true, upload_url: "https://files.slack.com/upload/v1/abc", file_id: "F1" },
        },
        {
          request: "POST https://files.slack.com/upload/v1/abc",
          encoding: "multipart",
          body: { body: { filename: "Untitled", type: "application/octet-stream", text: "hi" } },
          text: "OK - 2",
        },
        {
          request: "POST https://slack.com/api/files.completeUploadExternal",
          body: { files: '[{"id":"F1","title":"note.txt"}]', channel_id: "C1" },
          json: { ok: true, files: [{ id: "F1", title: "note.txt" }] },
        },
      ],
      returns: containing({ ok: true }),
    },
    {
      action: "request_approval_message",
      props: { channel: "C1", text: "Tea?" },
      exchanges: [
        {
          request: "POST https://slack.com/api/chat.postMessage",
          body: { text: "Tea?", channel: "C1" },
          json: { ok: true, channel: "C1", ts: "1710304378.475129" },
        },
        {
          request: "POST https://slack.com/api/chat.update",
          body: { channel: "C1", ts: "1710304378.475129", text: "Tea?", blocks: like(/"value":"https:\/\/e\/x\/runs\/.*action=approve/) },
          json: { ok: true, channel: "C1", ts: "1710304378.475129" },
        },
      ],
      flow: containing({ kind: "rerun", ms: 86_400_000 }),
    },
    {
      action: "request_approval_message",
      when: "a person has approved",
      props: { channel: "C1", text: "Tea?" },
      resumedBy: { body: {}, headers: {}, query: { action: "approve", messageTs: "1710304378.475129", channel: "C1" } },
      exchanges: [
        {
          request: "POST https://slack.com/api/chat.update",
          body: { channel: "C1", ts: "1710304378.475129", text: "Tea?\n\nApproved", blocks: like(/Approved/) },
          json: { ok: true, channel: "C1", ts: "1710304378.475129" },
        },
      ],
      returns: containing({ approved: true }),
    },
    {
      action: "get-file",
      props: { fileId: "F1" },
      exchanges: [
        {
          request: "POST https://slack.com/api/files.info",
          body: { file: "F1" },
          json: { ok: true, file: { id: "F1", name: "note.txt", url_private_download: "https://files.slack.com/note.txt" } },
        },
        { request: "GET https://files.slack.com/note.txt", text: "hi", answerHeaders: { "content-type": "text/plain" } },
      ],
      returns: containing({ id: "F1", data: like(/^\/tmp\/.+-note\.txt$/) }),
    },
    { action: "markdownToSlackFormat", props: { markdown: "**Tea** _now_" }, returns: like(/\*Tea\*.*_now_/) },
    {
      trigger: "new-message-in-channel",
      props: { channel: "C1" },
      calls: [
        { call: "activate" },
        {
          call: "deliver",
          deliver: { body: { type: "url_verification", challenge: "challenge-1" } },
          responds: { status: 200, headers: {}, body: "challenge-1" },
        },
        { call: "deliver", deliver: { body: slackEvent(slackMessage) }, responds: containing({ status: 200 }), emits: [slackMessage] },
        { call: "deliver", deliver: { body: slackEvent({ ...slackMessage, channel: "C2" }) }, responds: containing({ status: 200 }) },
        { call: "deliver", deliver: { body: slackEvent(slackMessage, "T2") }, responds: containing({ status: 200 }) },
        { call: "deactivate" },
      ],
    },
  ],
};

const stripeObject = { id: "ch_1", object: "charge", amount: 1200, currency: "eur" };
const stripeTrigger = (trigger: string, event: string): Service["cases"][number] => ({
  trigger,
  props: { api_key: token },
  calls: [
    {
      call: "activate",
      exchanges: [
        {
          request: "POST https://api.stripe.com/v1/webhook_endpoints",
          body: { "enabled_events[]": event, url: endpoint },
          json: { id: "we_1", object: "webhook_endpoint", enabled_events: [event], url: endpoint },
        },
      ],
    },
    {
      call: "deliver",
      deliver: { headers: { "stripe-signature": "t=1,v1=0" }, body: { id: "evt_1", type: event, data: { object: stripeObject } } },
      emits: [stripeObject],
    },
    {
      call: "deactivate",
      exchanges: [
        {
          request: "DELETE https://api.stripe.com/v1/webhook_endpoints/we_1",
          json: { id: "we_1", object: "webhook_endpoint", deleted: true },
        },
      ],
    },
  ],
});
const stripe: Service = {
  piece: "stripe@0.2.0",
  family: bearerForm,
  cases: [
    stripeTrigger("new_payment", "charge.succeeded"),
    stripeTrigger("new_customer", "customer.created"),
    stripeTrigger("payment_failed", "charge.failed"),
    stripeTrigger("new_subscription", "customer.subscription.created"),
    {
      trigger: "new_payment",
      when: "the key is refused",
      props: { api_key: token },
      calls: [
        {
          call: "activate",
          exchanges: [
            {
              request: "POST https://api.stripe.com/v1/webhook_endpoints",
              body: { "enabled_events[]": "charge.succeeded", url: endpoint },
              status: 401,
              json: { error: { type: "invalid_request_error", message: "Invalid API Key provided" } },
            },
          ],
          throws: like(/401|Invalid API Key/),
        },
      ],
    },
  ],
};

const account = "https://api.twilio.com/2010-04-01/Accounts/AC1";
const sms = (sid: string, direction = "inbound") => ({
  sid,
  direction,
  from: "+15005550001",
  to: "+15005550006",
  body: "Tea?",
  status: "received",
});
const inbox = `GET ${account}/Messages.json?PageSize=20&To=+15005550006`;
const twilio: Service = {
  piece: "twilio@0.2.0",
  family: basicAuth("AC1", token, "form"),
  auth: { username: "AC1", password: token },
  cases: [
    {
      action: "send_sms",
      props: { from: "+15005550006", body: "Tea & cake?", to: "+15005550001" },
      exchanges: [
        {
          request: `POST ${account}/Messages.json`,
          body: { From: "+15005550006", Body: "Tea & cake?", To: "+15005550001" },
          status: 201,
          json: { sid: "SM1", status: "queued" },
        },
      ],
      returns: containing({ status: 201, body: { sid: "SM1", status: "queued" } }),
    },
    {
      action: "send_sms",
      when: "the number is wrong",
      props: { from: "+15005550006", body: "Tea?", to: "+1" },
      exchanges: [
        {
          request: `POST ${account}/Messages.json`,
          body: { From: "+15005550006", Body: "Tea?", To: "+1" },
          status: 400,
          json: { code: 21211, message: "Invalid 'To' Phone Number", status: 400 },
        },
      ],
      throws: like(/21211|400/),
    },
    {
      trigger: "new_incoming_sms",
      props: { phone_number: "+15005550006" },
      calls: [
        { call: "activate", exchanges: [{ request: inbox, json: { messages: [sms("SM1")], next_page_uri: null } }] },
        { call: "poll", exchanges: [{ request: inbox, json: { messages: [sms("SM1")], next_page_uri: null } }] },
        {
          call: "poll",
          exchanges: [
            { request: inbox, json: { messages: [sms("SM4"), sms("SM3", "outbound-api"), sms("SM2"), sms("SM1")], next_page_uri: null } },
          ],
          emits: [sms("SM2"), sms("SM4")],
        },
      ],
    },
  ],
};

const pastebin: Service = {
  piece: "pastebin@0.1.0",
  family: { ...open, name: "forms with a key among the fields", encoding: "form" },
  auth: { token },
  cases: [
    {
      action: "create_paste",
      props: { content: "tea = true", name: "config", privacy: "1", expiry: "1D" },
      exchanges: [
        {
          request: "POST https://pastebin.com/api/api_post.php",
          body: {
            api_option: "paste",
            api_dev_key: token,
            api_paste_code: "tea = true",
            api_paste_name: "config",
            api_paste_private: "1",
            api_paste_expiry_date: "1D",
          },
          text: "https://pastebin.com/Ab12Cd",
        },
      ],
      returns: { id: "Ab12Cd", url: "https://pastebin.com/Ab12Cd" },
    },
    {
      action: "get_paste_content",
      props: { paste_id: "Ab12Cd" },
      exchanges: [{ request: "GET https://pastebin.com/raw/Ab12Cd", text: "tea = true" }],
      returns: { content: "tea = true" },
    },
  ],
};

export const formServices: readonly Service[] = [slackService, stripe, twilio, pastebin];
