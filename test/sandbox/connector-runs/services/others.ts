import { containing, like, type Service } from "../contract.ts";
import { bearerJson, headerKey, oauth, open, token } from "../families.ts";

/** Services without accounts, apps that all of their users share, feeds, and pieces that ask no service. */
const discord: Service = {
  piece: "discord@0.2.0",
  family: open,
  cases: [
    {
      action: "send_message_webhook",
      props: { webhook_url: "https://discord.com/api/webhooks/1/secret", content: "Tea?" },
      exchanges: [{ request: "POST https://discord.com/api/webhooks/1/secret", body: { content: "Tea?" }, status: 204 }],
      returns: containing({ status: 204 }),
    },
    {
      action: "send_message_webhook",
      when: "there were too many requests",
      props: { webhook_url: "https://discord.com/api/webhooks/1/secret", content: "Tea?" },
      exchanges: [
        {
          request: "POST https://discord.com/api/webhooks/1/secret",
          body: { content: "Tea?" },
          status: 429,
          answerHeaders: { "retry-after": "1" },
          json: { message: "You are being rate limited.", retry_after: 0.5, global: false },
        },
      ],
      throws: like(/429/),
    },
    {
      action: "send_message_webhook",
      when: "nothing answers",
      props: { webhook_url: "https://discord.com/api/webhooks/1/secret", content: "Tea?" },
      timeoutMs: 10_000,
      exchanges: [{ request: "POST https://discord.com/api/webhooks/1/secret", body: { content: "Tea?" }, speed: "never" }],
      throws: like(/10000|10 s|time/),
    },
  ],
};

const story = (id: number) => ({ id, type: "story", title: `Story ${id}`, score: id });
const hackernews: Service = {
  piece: "hackernews@0.2.0",
  family: open,
  cases: [
    {
      action: "fetch_top_stories",
      props: { number_of_stories: 2 },
      exchanges: [
        { request: "GET https://hacker-news.firebaseio.com/v0/topstories.json", json: [31, 32, 33] },
        { request: "GET https://hacker-news.firebaseio.com/v0/item/31.json", json: story(31) },
        { request: "GET https://hacker-news.firebaseio.com/v0/item/32.json", json: story(32) },
      ],
      returns: [story(31), story(32)],
    },
  ],
};

const binance: Service = {
  piece: "binance@0.3.0",
  family: open,
  cases: [
    {
      action: "fetch_crypto_pair_price",
      props: { first_coin: "BTC", second_coin: "USDT" },
      exchanges: [
        { request: "GET https://api.binance.com/api/v3/ticker/price?symbol=BTCUSDT", json: { symbol: "BTCUSDT", price: "65000.10" } },
      ],
      returns: 65000.1,
    },
  ],
};

const sendgrid: Service = {
  piece: "sendgrid@0.2.0",
  family: bearerJson,
  cases: [
    {
      action: "send_email",
      props: {
        authentication: token,
        to: "ada@example.com",
        from: "tea@example.com",
        from_name: "Tea house",
        reply_to: "tea@example.com",
        subject: "Tea",
        content_type: "text",
        content: "At five?",
      },
      exchanges: [
        {
          request: "POST https://api.sendgrid.com/v3/mail/send",
          body: {
            personalizations: [{ to: [{ email: "ada@example.com" }] }],
            from: { email: "tea@example.com", name: "Tea house" },
            reply_to: { email: "tea@example.com" },
            subject: "Tea",
            content: [{ type: "text/plain", value: "At five?" }],
          },
          status: 202,
        },
      ],
      returns: { success: true },
    },
  ],
};

const posthog: Service = {
  piece: "posthog@0.2.0",
  family: bearerJson,
  cases: [
    {
      action: "create_event",
      props: { project_api_key: token, event: "tea served", event_type: "capture", distinct_id: "ada", properties: { cups: 2 } },
      exchanges: [
        {
          request: "POST https://app.posthog.com/capture/",
          body: { event: "tea served", type: "capture", api_key: token, context: {}, properties: { cups: 2 }, distinct_id: "ada" },
          json: { status: 1 },
        },
      ],
      returns: { status: 1 },
    },
  ],
};

const photo = { access_token: "page-token", image_url: "https://images.example.com/cup.jpg", caption: "Cup" };
const instagram: Service = {
  piece: "instagram-business@0.1.4",
  family: open,
  auth: oauth,
  cases: [
    {
      action: "upload_photo",
      props: { page: { id: "p1", accessToken: "page-token" }, photo: photo.image_url, caption: "Cup" },
      exchanges: [
        { request: "POST https://graph.facebook.com/v17.0/p1/media", body: photo, json: { id: "container-1" } },
        {
          request: "POST https://graph.facebook.com/v17.0/p1/media_publish",
          body: { access_token: "page-token", creation_id: "container-1" },
          json: { id: "media-1" },
        },
      ],
      returns: { id: "media-1" },
    },
    {
      action: "upload_reel",
      props: { page: { id: "p1", accessToken: "page-token" }, video: "https://images.example.com/cup.mp4", caption: "Cup" },
      exchanges: [
        {
          request: "POST https://graph.facebook.com/v17.0/p1/media",
          body: { access_token: "page-token", video_url: "https://images.example.com/cup.mp4", caption: "Cup", media_type: "REELS" },
          json: { id: "container-2" },
        },
        {
          request: "GET https://graph.facebook.com/v17.0/container-2?access_token=page-token&fields=status_code",
          json: { status_code: "FINISHED", id: "container-2" },
        },
        {
          request: "POST https://graph.facebook.com/v17.0/p1/media_publish",
          body: { access_token: "page-token", creation_id: "container-2" },
          json: { id: "media-2" },
        },
      ],
      returns: { id: "media-2" },
    },
  ],
};

const leadFields = "field_data%2Ccreated_time%2Cad_id%2Cad_name%2Cadset_id%2Cadset_name%2Ccampaign_id%2Ccampaign_name%2Cform_id%2Cplatform";
const facebook: Service = {
  piece: "facebook-leads@0.3.7",
  family: open,
  auth: oauth,
  cases: [
    {
      trigger: "new_lead",
      props: { page: { id: "p1", accessToken: "page-token" } },
      calls: [
        {
          call: "activate",
          exchanges: [
            {
              request: "POST https://graph.facebook.com/p1/subscribed_apps",
              body: { access_token: "page-token", subscribed_fields: ["leadgen"] },
              json: { success: true },
            },
          ],
        },
        {
          call: "deliver",
          deliver: {
            body: {
              object: "page",
              entry: [{ id: "p1", time: 1, changes: [{ field: "leadgen", value: { leadgen_id: "l1", page_id: "p1", form_id: "f1" } }] }],
            },
          },
          exchanges: [
            {
              request: `GET https://graph.facebook.com/l1?access_token=${token}&fields=${leadFields}`,
              json: {
                id: "l1",
                created_time: "2026-01-01T00:00:00+0000",
                form_id: "f1",
                field_data: [{ name: "email", values: ["ada@example.com"] }],
              },
            },
          ],
          responds: containing({ status: 200 }),
          emits: [{ lead_id: "l1", form_id: "f1", created_time: "2026-01-01T00:00:00+0000", data: { email: "ada@example.com" } }],
        },
        { call: "deactivate" },
      ],
    },
  ],
};

const contact = { type: "contact", id: "u1", role: "user", email: "ada@example.com", name: "Ada" };
const intercomEvent = { type: "notification_event", app_id: "app1", topic: "contact.user.created", data: { item: contact } };
const intercomVersion = { "intercom-version": "2.11" };
const intercom: Service = {
  piece: "intercom@0.7.5",
  family: { ...bearerJson, headers: { ...bearerJson.headers, ...intercomVersion } },
  auth: oauth,
  cases: [
    {
      action: "list-all-tags",
      exchanges: [{ request: "GET https://api.intercom.io/tags", json: { type: "list", data: [{ type: "tag", id: "1", name: "tea" }] } }],
      returns: { type: "list", data: [{ type: "tag", id: "1", name: "tea" }] },
    },
    {
      action: "create-or-update-user",
      props: { email: "ada@example.com", name: "Ada" },
      exchanges: [
        {
          request: "POST https://api.intercom.io/contacts/search",
          body: {
            query: {
              operator: "AND",
              value: [
                { field: "email", operator: "=", value: "ada@example.com" },
                { field: "role", operator: "=", value: "user" },
              ],
            },
            pagination: { per_page: 1 },
          },
          json: { type: "list", data: [], total_count: 0 },
        },
        { request: "POST https://api.intercom.io/contacts", body: { role: "user", email: "ada@example.com", name: "Ada" }, json: contact },
      ],
      returns: contact,
    },
    {
      action: "addNoteToConversation",
      props: { from: "1", conversationId: "2", body: "Prefers green tea" },
      exchanges: [
        {
          request: "POST https://api.intercom.io/conversations/2/reply",
          body: { type: "admin", message_type: "note", body: "Prefers green tea", admin_id: "1" },
          json: { type: "conversation", id: "2", state: "open" },
        },
      ],
      returns: { type: "conversation", id: "2", state: "open" },
    },
    {
      action: "find-user",
      props: { searchField: "email", searchValue: "ada@example.com" },
      exchanges: [
        {
          request: "POST https://api.intercom.io/contacts/search",
          body: {
            query: {
              operator: "AND",
              value: [
                { field: "email", operator: "=", value: "ada@example.com" },
                { field: "role", operator: "=", value: "user" },
              ],
            },
            pagination: { per_page: 1 },
          },
          json: { type: "list", data: [contact], total_count: 1 },
        },
      ],
      returns: { found: true, user: contact },
    },
    {
      trigger: "new-user",
      calls: [
        {
          call: "activate",
          exchanges: [
            { request: "GET https://api.intercom.io/me", json: { type: "admin", id: "1", app: { type: "app", id_code: "app1" } } },
          ],
        },
        { call: "deliver", deliver: { body: intercomEvent }, responds: containing({ status: 200 }), emits: [contact] },
        { call: "deliver", deliver: { body: { ...intercomEvent, app_id: "app2" } }, responds: containing({ status: 200 }) },
        { call: "deactivate" },
      ],
    },
  ],
};

const squareEvent = (merchant: string) => ({
  merchant_id: merchant,
  type: "order.created",
  event_id: "e1",
  data: { type: "order", id: "o1", object: { order_created: { order_id: "o1", state: "OPEN" } } },
});
const square: Service = {
  piece: "square@0.4.6",
  family: open,
  auth: { ...oauth, merchant_id: "M1" },
  cases: [
    {
      trigger: "new_order",
      calls: [
        { call: "activate" },
        { call: "deliver", deliver: { body: squareEvent("M1") }, responds: containing({ status: 200 }), emits: [squareEvent("M1")] },
        { call: "deliver", deliver: { body: squareEvent("M2") }, responds: containing({ status: 200 }) },
        { call: "deactivate" },
      ],
    },
  ],
};

const booking = (id: number, at: string) => ({ id, contact_id: 1, created_at: at, starts_at: at, cancelled_at: at });
const tidycalTrigger = (trigger: string, path: string): Service["cases"][number] => ({
  trigger,
  calls: [
    { call: "activate" },
    {
      call: "poll",
      exchanges: [
        {
          request: `GET https://tidycal.com/api/${path}`,
          json: { data: [booking(1, "2020-01-01T00:00:00Z"), booking(3, "2099-01-02T00:00:00Z"), booking(2, "2099-01-01T00:00:00Z")] },
        },
      ],
      emits: [booking(2, "2099-01-01T00:00:00Z"), booking(3, "2099-01-02T00:00:00Z")],
    },
    { call: "poll", exchanges: [{ request: `GET https://tidycal.com/api/${path}`, json: { data: [booking(3, "2099-01-02T00:00:00Z")] } }] },
  ],
});
const tidycal: Service = {
  piece: "tidycal@0.0.4",
  family: bearerJson,
  auth: { api_key: token },
  cases: [
    tidycalTrigger("new_booking", "bookings?cancelled=false"),
    tidycalTrigger("booking_canceled", "bookings?cancelled=true"),
    tidycalTrigger("new_contact", "contacts"),
  ],
};

const invoice = (id: string, at: string) => ({ invoice_id: id, status: "sent", total: 12, created_time: at });
const invoices = "GET https://www.zohoapis.eu/invoice/v3/invoices?last_modified_at=*";
const zohoInvoice: Service = {
  piece: "zoho-invoice@0.0.1",
  family: headerKey("authorization", `Zoho-oauthtoken ${token}`),
  auth: { ...oauth, region: "eu" },
  cases: [
    {
      trigger: "new_invoice",
      calls: [
        { call: "activate" },
        {
          call: "poll",
          exchanges: [{ request: invoices, json: { code: 0, message: "success", invoices: [invoice("2", "2099-01-01T00:00:00+0000")] } }],
          emits: [invoice("2", "2099-01-01T00:00:00+0000")],
        },
        {
          call: "poll",
          exchanges: [{ request: invoices, json: { code: 0, message: "success", invoices: [invoice("2", "2099-01-01T00:00:00+0000")] } }],
        },
      ],
    },
  ],
};

const appointment = { booking_id: "b1", status: "upcoming", customer_name: "Ada" };
const zohoBookings: Service = {
  piece: "zoho-bookings@0.1.6",
  family: headerKey("authorization", `Zoho-oauthtoken ${token}`),
  auth: { ...oauth, location: "zoho.eu" },
  cases: [
    {
      action: "getAppointmentDetails",
      props: { from_time: "2026-01-01T10:00:00Z", booking_id: "b1" },
      exchanges: [
        {
          request: "GET https://www.zohoapis.eu/bookings/v1/json/getappointment?booking_id=b1",
          json: { response: { returnvalue: appointment, status: "success" } },
        },
      ],
      returns: { response: { returnvalue: appointment, status: "success" } },
    },
  ],
};

const entry = (id: string, at: string): string =>
  `<entry><id>yt:video:${id}</id><yt:videoId>${id}</yt:videoId><title>Tea ${id}</title><link rel="alternate" href="https://www.youtube.com/watch?v=${id}"/><published>${at}</published><updated>${at}</updated></entry>`;
const feed = (...entries: readonly string[]): string =>
  `<?xml version="1.0" encoding="UTF-8"?><feed xmlns:yt="http://www.youtube.com/xml/schemas/2015" xmlns:media="http://search.yahoo.com/mrss/" xmlns="http://www.w3.org/2005/Atom"><id>yt:channel:UC1</id><title>Tea house</title>${entries.join("")}</feed>`;
const videos = {
  request: "GET https://www.youtube.com/feeds/videos.xml?channel_id=UC1",
  answerHeaders: { "content-type": "text/xml; charset=UTF-8" },
};
const youtube: Service = {
  piece: "youtube@0.2.0",
  family: open,
  cases: [
    {
      trigger: "new-video",
      props: { channel_identifier: "@tea" },
      calls: [
        {
          call: "activate",
          exchanges: [
            {
              request: "GET https://www.youtube.com/@tea",
              text: '<html><head><link rel="canonical" href="https://www.youtube.com/channel/UC1"></head></html>',
            },
            { ...videos, text: feed(entry("v1", "2026-01-01T00:00:00+00:00")) },
          ],
        },
        { call: "poll", exchanges: [{ ...videos, text: feed(entry("v1", "2026-01-01T00:00:00+00:00")) }] },
        {
          call: "poll",
          exchanges: [{ ...videos, text: feed(entry("v2", "2026-01-02T00:00:00+00:00"), entry("v1", "2026-01-01T00:00:00+00:00")) }],
          emits: [containing({ title: "Tea v2", guid: "yt:video:v2" })],
        },
      ],
    },
  ],
};

const delivered = {
  method: "POST",
  headers: { "content-type": "application/json", "x-key": "s" },
  queryParams: {},
  body: { id: 1 },
  rawBody: '{"id":1}',
};
const webhook: Service = {
  piece: "webhook@0.1.29",
  family: open,
  cases: [
    {
      action: "return_response",
      props: { responseType: "json", fields: { status: 201, headers: { "x-a": "b" }, body: { a: 1 } }, respond: "stop" },
      responds: containing({ status: 201, body: '{"a":1}' }),
      flow: containing({ kind: "exit" }),
    },
    {
      trigger: "catch_webhook",
      props: { authType: "header", authFields: { headerName: "x-key", headerValue: "s" } },
      calls: [
        { call: "activate" },
        { call: "deliver", deliver: { headers: { "x-key": "s" }, body: { id: 1 } }, emits: [delivered] },
        { call: "deliver", deliver: { headers: { "x-key": "wrong" }, body: { id: 1 } } },
        { call: "deactivate" },
      ],
    },
  ],
};

const gravity: Service = {
  piece: "gravityforms@0.0.1",
  family: open,
  cases: [
    {
      trigger: "new-submission",
      calls: [
        { call: "activate" },
        {
          call: "deliver",
          deliver: { body: { id: "1", form_id: "2" } },
          emits: [containing({ body: { id: "1", form_id: "2" } })],
        },
        { call: "deactivate" },
      ],
    },
  ],
};

const mapper: Service = {
  piece: "data-mapper@0.3.15",
  family: open,
  cases: [{ action: "advanced_mapping", props: { mapping: { name: "Ada", cups: [1, 2] } }, returns: { name: "Ada", cups: [1, 2] } }],
};

const schedule: Service = {
  piece: "schedule@0.1.5",
  family: open,
  cases: [
    {
      trigger: "cron_expression",
      // There is no such date: the timer of the source never finds it due.
      props: { cronExpression: "0 0 30 2 *", timezone: "Europe/Berlin" },
      calls: [{ call: "activate" }, { call: "poll" }, { call: "run", emits: [{}] }, { call: "run", emits: [{}] }],
    },
  ],
};

const delay: Service = {
  piece: "delay@0.3.26",
  family: open,
  cases: [
    { action: "delayFor", props: { unit: "minutes", delayFor: 5 }, flow: containing({ kind: "rerun" }) },
    {
      action: "delayFor",
      when: "the time has passed",
      props: { unit: "minutes", delayFor: 5 },
      resumedBy: {},
      returns: containing({ success: true }),
    },
    { action: "delay_until", props: { delayUntilTimestamp: "2020-01-01T00:00:00Z" }, flow: null },
  ],
};

const subflow = { data: { cups: 2 }, callbackUrl: "https://hooks.headwater.example/callback" };
const subflows: Service = {
  piece: "subflows@0.6.3",
  family: open,
  cases: [
    {
      trigger: "callableFlow",
      props: { mode: "simple", exampleData: { sampleData: { cups: 1 } } },
      calls: [{ call: "activate" }, { call: "deliver", deliver: { body: subflow }, emits: [subflow] }, { call: "deactivate" }],
    },
  ],
};

export const otherServices: readonly Service[] = [
  discord,
  hackernews,
  binance,
  sendgrid,
  posthog,
  instagram,
  facebook,
  intercom,
  square,
  tidycal,
  zohoInvoice,
  zohoBookings,
  youtube,
  webhook,
  gravity,
  mapper,
  schedule,
  delay,
  subflows,
];
