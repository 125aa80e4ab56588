import { containing, like, type Service } from "../contract.ts";
import { endpoint } from "../endpoint.ts";
import { basicAuth, bearerJson, ghost, headerKey, queryKey, token } from "../families.ts";

/** Services with keys: in a header, in the query, as basic authentication, or in a signed token. */
const row = { id: 7, order: "1.00000000000000000000", Name: "Tea" };
const rowEvent = { event_type: "rows.created", table_id: 5, event_id: "e1", items: [row] };
const baserow: Service = {
  piece: "baserow@0.10.0",
  family: headerKey("authorization", `Token ${token}`),
  auth: { apiUrl: "https://api.baserow.io", token },
  cases: [
    {
      action: "baserow_get_row",
      props: { table_id: 5, row_id: 7 },
      exchanges: [{ request: "GET https://api.baserow.io/api/database/rows/table/5/7/?user_field_names=true", json: row }],
      returns: row,
    },
    {
      action: "baserow_create_row",
      props: { table_id: 5, table_fields: { Name: "Tea" } },
      exchanges: [
        {
          request: "GET https://api.baserow.io/api/database/fields/table/5/",
          json: [{ id: 1, table_id: 5, name: "Name", type: "text", primary: true }],
        },
        {
          request: "POST https://api.baserow.io/api/database/rows/table/5/?user_field_names=true",
          body: { Name: "Tea" },
          json: row,
        },
      ],
      returns: row,
    },
    {
      configures: "action/baserow_create_row",
      options: "table_id",
      exchanges: [
        {
          request: "GET https://api.baserow.io/api/database/tables/all-tables/",
          json: [{ id: 5, name: "Guests", order: 1, database_id: 2 }],
        },
      ],
      gives: [{ label: like(/Guests/), value: 5 }],
    },
    {
      configures: "action/baserow_create_row",
      props: { table_id: 5 },
      exchanges: [
        {
          request: "GET https://api.baserow.io/api/database/fields/table/5/",
          json: [
            { id: 1, table_id: 5, name: "Name", type: "text", primary: true },
            { id: 2, table_id: 5, name: "Cups", type: "number" },
          ],
        },
      ],
      gives: [
        ["table_fields_Name", "string"],
        ["table_fields_Cups", "any"],
      ],
    },
    {
      action: "baserow_list_rows",
      props: { table_id: 5, limit: 50 },
      exchanges: [
        {
          request: "GET https://api.baserow.io/api/database/rows/table/5/?user_field_names=true&page=1&size=50",
          json: { count: 1, next: null, previous: null, results: [row] },
        },
      ],
      returns: containing({ count: 1 }),
    },
    {
      action: "baserow_delete_row",
      props: { table_id: 5, row_id: 7 },
      exchanges: [{ request: "DELETE https://api.baserow.io/api/database/rows/table/5/7/", status: 204 }],
      returns: { success: true },
    },
    {
      action: "baserow_get_row",
      when: "the key is refused",
      props: { table_id: 5, row_id: 7 },
      exchanges: [
        {
          request: "GET https://api.baserow.io/api/database/rows/table/5/7/?user_field_names=true",
          status: 401,
          json: { error: "ERROR_TOKEN_DOES_NOT_EXIST", detail: "The provided token does not exist." },
        },
      ],
      throws: like(/401|token/),
    },
    {
      trigger: "baserow_row_created",
      props: { table_id: 5 },
      calls: [{ call: "activate" }, { call: "deliver", deliver: { body: rowEvent }, emits: [row] }, { call: "deactivate" }],
    },
  ],
};

const motionTask = { id: "t1", name: "Buy tea", priority: "HIGH", createdTime: "2099-01-01T00:00:00.000Z" };
const motion: Service = {
  piece: "motion@0.2.0",
  family: headerKey("x-api-key", token),
  auth: { api_key: token },
  cases: [
    {
      action: "create-task",
      props: { workspaceId: "w1", name: "Buy tea", priority: "HIGH", labels: ["home"] },
      exchanges: [
        {
          request: "POST https://api.usemotion.com/v1/tasks",
          body: { name: "Buy tea", workspaceId: "w1", priority: "HIGH", labels: ["home"] },
          status: 201,
          json: motionTask,
        },
      ],
      returns: motionTask,
    },
    {
      action: "get-task",
      props: { taskId: "t1" },
      exchanges: [{ request: "GET https://api.usemotion.com/v1/tasks/t1", json: motionTask }],
      returns: motionTask,
    },
    {
      configures: "action/create-task",
      options: "workspaceId",
      exchanges: [
        {
          request: "GET https://api.usemotion.com/v1/workspaces",
          json: { workspaces: [{ id: "w1", name: "House" }], meta: { pageSize: 1 } },
        },
      ],
      gives: [{ label: "House", value: "w1" }],
    },
    {
      action: "find-task",
      props: { workspaceId: "w1", name: "Tea" },
      exchanges: [
        {
          request: "GET https://api.usemotion.com/v1/tasks?name=Tea&workspaceId=w1&includeAllStatuses=false",
          json: { tasks: [motionTask], meta: { pageSize: 1 } },
        },
      ],
      returns: { found: true, result: [motionTask] },
    },
    {
      action: "get-task",
      when: "there were too many requests",
      props: { taskId: "t1" },
      exchanges: [
        { request: "GET https://api.usemotion.com/v1/tasks/t1", status: 429, json: { message: "ThrottlerException: Too Many Requests" } },
      ],
      throws: like(/429|Too Many/),
    },
    {
      trigger: "task-created",
      props: { workspaceId: "w1" },
      calls: [
        { call: "activate" },
        {
          call: "poll",
          exchanges: [
            {
              request: "GET https://api.usemotion.com/v1/tasks?workspaceId=w1",
              json: { tasks: [motionTask, { ...motionTask, id: "t0", createdTime: "2020-01-01T00:00:00.000Z" }], meta: { pageSize: 2 } },
            },
          ],
          emits: [motionTask],
        },
        {
          call: "poll",
          exchanges: [
            { request: "GET https://api.usemotion.com/v1/tasks?workspaceId=w1", json: { tasks: [motionTask], meta: { pageSize: 1 } } },
          ],
        },
      ],
    },
  ],
};

const drip: Service = {
  piece: "drip@0.4.7",
  family: headerKey("authorization", `Basic ${Buffer.from(token).toString("base64")}`),
  auth: { api_key: token },
  cases: [
    {
      action: "apply_tag_to_subscriber",
      props: { account_id: "9", subscriber: "ada@example.com", tag: "tea" },
      exchanges: [
        {
          request: "POST https://api.getdrip.com/v2/9/tags",
          body: { tags: [{ email: "ada@example.com", tag: "tea" }] },
          status: 201,
          json: {},
        },
      ],
      returns: containing({ status: 201 }),
    },
    {
      action: "upsert_subscriber",
      props: { account_id: "9", subscriber: "ada@example.com", first_name: "Ada", custom_fields: { cup: "big" } },
      exchanges: [
        {
          request: "POST https://api.getdrip.com/v2/9/subscribers",
          body: { subscribers: [{ email: "ada@example.com", custom_fields: { cup: "big" }, first_name: "Ada" }] },
          json: { subscribers: [{ id: "s1", email: "ada@example.com" }] },
        },
      ],
      returns: containing({ status: 200, body: { subscribers: [{ id: "s1", email: "ada@example.com" }] } }),
    },
    {
      trigger: "new_subscriber",
      props: { account_id: "9" },
      calls: [
        {
          call: "activate",
          exchanges: [
            {
              request: "POST https://api.getdrip.com/v2/9/webhooks",
              body: { webhooks: [{ post_url: endpoint, events: ["subscriber.created"] }] },
              status: 201,
              json: { webhooks: [{ id: "w1", post_url: endpoint }] },
            },
          ],
        },
        {
          call: "deliver",
          deliver: { body: { event: "subscriber.created", data: { subscriber: { id: "s1" } } } },
          emits: [{ event: "subscriber.created", data: { subscriber: { id: "s1" } } }],
        },
        { call: "deactivate", exchanges: [{ request: "DELETE https://api.getdrip.com/v2/9/webhooks/w1", status: 204 }] },
      ],
    },
  ],
};

const [ghostId, ghostSecret] = ["64f0c0ffee", "ab".repeat(32)];
const ghostMember = { id: "m1", email: "ada@example.com", name: "Ada" };
const ghostcms: Service = {
  piece: "ghostcms@0.2.0",
  family: ghost(ghostId, ghostSecret),
  auth: { baseUrl: "https://blog.example.com", apiKey: `${ghostId}:${ghostSecret}` },
  cases: [
    {
      action: "create_member",
      props: { email: "ada@example.com", name: "Ada" },
      exchanges: [
        {
          request: "POST https://blog.example.com/ghost/api/admin/members",
          body: { members: [{ email: "ada@example.com", name: "Ada", newsletters: [] }] },
          status: 201,
          json: { members: [ghostMember] },
        },
      ],
      returns: { members: [ghostMember] },
    },
    {
      action: "find_member",
      props: { email: "ada@example.com" },
      exchanges: [
        {
          request: "GET https://blog.example.com/ghost/api/admin/members?filter=email%3Aada%40example.com",
          json: { members: [ghostMember] },
        },
      ],
      returns: { members: [ghostMember] },
    },
    {
      trigger: "member_added",
      calls: [
        {
          call: "activate",
          exchanges: [
            {
              request: "POST https://blog.example.com/ghost/api/admin/webhooks",
              body: { webhooks: [{ target_url: endpoint, event: "member.added" }] },
              status: 201,
              json: { webhooks: [{ id: "w1", event: "member.added", target_url: endpoint }] },
            },
          ],
        },
        {
          call: "deliver",
          deliver: { body: { member: { current: ghostMember, previous: {} } } },
          emits: [{ member: { current: ghostMember, previous: {} } }],
        },
        { call: "deactivate", exchanges: [{ request: "DELETE https://blog.example.com/ghost/api/admin/webhooks/w1", status: 204 }] },
      ],
    },
  ],
};

const apitemplate: Service = {
  piece: "apitemplate-io@0.2.0",
  family: { ...headerKey("x-api-key", token) },
  auth: { region: "default", apiKey: token },
  cases: [
    {
      action: "getAccountInformation",
      exchanges: [
        {
          request: "GET https://rest.apitemplate.io/v2/account-information",
          json: { status: "success", subscription_product: "apis_l0", quota: 50 },
        },
      ],
      returns: { status: "success", subscription_product: "apis_l0", quota: 50 },
    },
    {
      action: "createPdf",
      props: { templateId: "t1", data: { guest: "Ada" } },
      exchanges: [
        {
          request: "POST https://rest.apitemplate.io/v2/create-pdf?template_id=t1",
          body: { guest: "Ada" },
          json: { status: "success", download_url: "https://cdn.example.com/a.pdf", transaction_ref: "r1" },
        },
      ],
      returns: { status: "success", download_url: "https://cdn.example.com/a.pdf", transaction_ref: "r1" },
    },
  ],
};

const trelloCard = { id: "c1", name: "Tea", idList: "l1" };
const trello: Service = {
  piece: "trello@0.2.0",
  family: queryKey({ key: "key-1", token }),
  auth: { username: "key-1", password: token },
  cases: [
    {
      action: "create_card",
      props: { board_id: "b1", list_id: "l1", name: "Tea", description: "green" },
      exchanges: [{ request: "POST https://api.trello.com/1/cards?idList=l1", body: { name: "Tea", desc: "green" }, json: trelloCard }],
      returns: trelloCard,
    },
    {
      action: "get_card",
      props: { cardId: "c1" },
      // This client sends an empty object with a GET request, too.
      exchanges: [{ request: "GET https://api.trello.com/1/cards/c1", body: {}, json: trelloCard }],
      returns: trelloCard,
    },
  ],
};

const telegram: Service = {
  piece: "telegram-bot@0.2.0",
  family: { name: "JSON with a key in the path", encoding: "json" },
  cases: [
    {
      action: "send_text_message",
      props: { bot_token: "1:secret", chat_id: "5", message: "Tea at five" },
      exchanges: [
        {
          request: "POST https://api.telegram.org/bot1:secret/sendMessage",
          body: { chat_id: "5", text: "Tea at five" },
          json: { ok: true, result: { message_id: 9, text: "Tea at five" } },
        },
      ],
      returns: containing({ status: 200, body: { ok: true, result: { message_id: 9, text: "Tea at five" } } }),
    },
    {
      action: "send_text_message",
      when: "the bot may not write there",
      props: { bot_token: "1:secret", chat_id: "6", message: "Tea" },
      exchanges: [
        {
          request: "POST https://api.telegram.org/bot1:secret/sendMessage",
          body: { chat_id: "6", text: "Tea" },
          status: 403,
          json: { ok: false, error_code: 403, description: "Forbidden: bot was blocked by the user" },
        },
      ],
      throws: like(/403|blocked/),
    },
  ],
};

const jotform: Service = {
  piece: "jotform@0.1.0",
  family: { ...headerKey("apikey", token), encoding: "multipart" },
  auth: { apiKey: token, region: "us" },
  cases: [
    {
      trigger: "new_submission",
      props: { formId: "f1" },
      calls: [
        {
          call: "activate",
          exchanges: [
            {
              request: "POST https://api.jotform.com/form/f1/webhooks",
              body: { webhookURL: endpoint },
              json: { responseCode: 200, message: "success", content: { 0: endpoint } },
            },
          ],
        },
        {
          call: "deliver",
          deliver: { body: { formID: "f1", submissionID: "s1", rawRequest: "{}" } },
          emits: [{ formID: "f1", submissionID: "s1", rawRequest: "{}" }],
        },
        {
          call: "deactivate",
          exchanges: [
            {
              request: "GET https://api.jotform.com/form/f1/webhooks",
              json: { responseCode: 200, message: "success", content: { 0: "https://other.example.com", 1: endpoint } },
            },
            { request: "DELETE https://api.jotform.com/form/f1/webhooks/1", json: { responseCode: 200, message: "success" } },
          ],
        },
      ],
    },
  ],
};

const customer = { id: 5, email: "ada@example.com", first_name: "Ada" };
const order = { id: 7, name: "#1001", financial_status: "paid" };
const admin = "https://tea-house.myshopify.com/admin/api/2023-10";
const hooks = "https://tea-house.myshopify.com/admin/api/2023-01/webhooks";
const checkout = (id: number) => ({ id, token: `t${id}`, created_at: "2026-01-01T00:00:00Z" });
const shopifyTrigger = (trigger: string, topic: string): Service["cases"][number] => ({
  trigger,
  calls: [
    {
      call: "activate",
      exchanges: [
        {
          request: `POST ${hooks}.json`,
          body: { webhook: { topic, address: endpoint, format: "json" } },
          status: 201,
          json: { webhook: { id: 9, topic, address: endpoint, format: "json" } },
        },
      ],
    },
    { call: "deliver", deliver: { headers: { "x-shopify-topic": topic }, body: order }, emits: [order] },
    { call: "deactivate", exchanges: [{ request: `DELETE ${hooks}/9.json`, json: {} }] },
  ],
});
const shopify: Service = {
  piece: "shopify@0.3.0",
  family: headerKey("x-shopify-access-token", token),
  auth: { shopName: "tea-house", adminToken: token },
  cases: [
    {
      action: "create_customer",
      props: { email: "ada@example.com", firstName: "Ada", acceptsMarketing: true },
      exchanges: [
        {
          request: `POST ${admin}/customers.json`,
          body: {
            customer: {
              email: "ada@example.com",
              verified_email: true,
              send_email_invite: false,
              first_name: "Ada",
              email_marketing_consent: { state: "subscribed", opt_in_level: "unknown" },
            },
          },
          status: 201,
          json: { customer },
        },
      ],
      returns: customer,
    },
    {
      action: "get_product",
      props: { id: "5" },
      exchanges: [{ request: `GET ${admin}/products/5.json`, json: { product: { id: 5, title: "Cup" } } }],
      returns: { id: 5, title: "Cup" },
    },
    {
      action: "adjust_inventory_level",
      props: { id: 1, locationId: 2, adjustment: 3 },
      exchanges: [
        {
          request: `POST ${admin}/inventory_levels/adjust.json`,
          body: { inventory_item_id: 1, location_id: 2, available_adjustment: 3 },
          json: { inventory_level: { inventory_item_id: 1, location_id: 2, available: 6 } },
        },
      ],
      // This version of the package returns another field of the answer, which this method does not have.
      returns: undefined,
    },
    {
      action: "close_order",
      props: { orderId: 7 },
      exchanges: [{ request: `POST ${admin}/orders/7/close.json`, body: {}, json: { order } }],
      returns: order,
    },
    {
      action: "upload_product_image",
      props: { id: "5", image: "data:image/png;name=cup.png;base64,aGk=" },
      exchanges: [
        {
          request: `POST ${admin}/products/5/images.json`,
          body: { image: { attachment: "aGk=" } },
          json: { image: { id: 3, product_id: 5, position: 1 } },
        },
      ],
      returns: { id: 3, product_id: 5, position: 1 },
    },
    shopifyTrigger("new_order", "orders/create"),
    shopifyTrigger("new_cancelled_order", "orders/cancelled"),
    {
      trigger: "new_abandoned_checkout",
      calls: [
        { call: "activate", exchanges: [{ request: `GET ${admin}/checkouts.json`, json: { checkouts: [checkout(1)] } }] },
        {
          call: "poll",
          exchanges: [{ request: `GET ${admin}/checkouts.json?since_id=1`, json: { checkouts: [checkout(2)] } }],
          emits: [checkout(2)],
        },
        { call: "poll", exchanges: [{ request: `GET ${admin}/checkouts.json?since_id=2`, json: { checkouts: [] } }] },
      ],
    },
  ],
};

const api = "https://cms.example.com/rw_common/plugins/stacks/total-cms/totalapi.php";
const post = (permalink: string, timestamp: number) => ({ permalink, title: "Tea", timestamp, draft: false });
const totalcms: Service = {
  piece: "totalcms@0.2.0",
  family: { ...headerKey("total-key", token), encoding: "form" },
  auth: { domain: "https://cms.example.com", license: token },
  cases: [
    {
      action: "save_text",
      props: { slug: "hello", text: "Tea & cake" },
      exchanges: [
        { request: `POST ${api}`, body: { nodecode: "true", text: "Tea & cake", slug: "hello", type: "text" }, json: { success: true } },
      ],
      returns: containing({ success: true }),
    },
    {
      action: "save_file",
      props: { slug: "menu", ext: "txt", file: "data:text/plain;base64,aGk=" },
      exchanges: [
        {
          request: `POST ${api}`,
          encoding: "multipart",
          body: { type: "file", slug: "menu", file: { filename: "file.txt", type: "text/plain", text: "hi" }, ext: "txt" },
          json: { success: true },
        },
      ],
      returns: containing({ success: true }),
    },
    {
      action: "get_blog_post",
      props: { slug: "news", permalink: "tea" },
      exchanges: [{ request: `GET ${api}?permalink=tea&slug=news&type=blog`, json: { data: post("tea", 1767225600) } }],
      returns: containing({ data: post("tea", 1767225600) }),
    },
  ],
};

const ticket = { id: 3, subject: "Cup is broken", status: 2, responder_id: null };
const freshdesk: Service = {
  piece: "freshdesk@0.1.0",
  family: headerKey("authorization", token),
  auth: { base_url: "https://tea.freshdesk.com/", access_token: token },
  cases: [
    {
      action: "get_tickets",
      exchanges: [{ request: "GET https://tea.freshdesk.com/api/v2/tickets/", json: [ticket] }],
      returns: [ticket],
    },
    {
      action: "get_ticket_status",
      props: { ticketid: "3" },
      exchanges: [{ request: "GET https://tea.freshdesk.com/api/v2/tickets/3", json: ticket }],
      returns: [{ ticket_status: "OPEN", assigned_status: "NOTASSIGNED", assigned_id: null }],
    },
    {
      action: "get_contacts",
      props: { filter_type: "email", filter_value: "ada@example.com", filter_status: "verified", per_page: 5 },
      exchanges: [
        {
          request: "GET https://tea.freshdesk.com/api/v2/contacts/?email=ada%40example.com&state=verified&per_page=5",
          json: [{ id: 1, email: "ada@example.com" }],
        },
      ],
      returns: [{ id: 1, email: "ada@example.com" }],
    },
    {
      action: "get_all_tickets_by_status",
      props: { status_filter: ["status:2", "status:3"] },
      exchanges: [
        {
          request: "GET https://tea.freshdesk.com/api/v2/search/tickets/?query=%22status%3A2+OR+status%3A3%22",
          json: { total: 1, results: [{ ...ticket, requester_id: 1 }] },
        },
      ],
      returns: [{ id: 3, requester_id: 1, responder_id: null, status: "Open", subject: "Cup is broken" }],
    },
  ],
};

const ashby: Service = {
  piece: "ashby@0.2.0",
  family: basicAuth(token, ""),
  auth: { apiKey: token },
  cases: [
    {
      action: "custom_api_call",
      props: {
        url: { url: "/candidate.list" },
        method: "POST",
        headers: {},
        queryParams: {},
        body_type: "json",
        body: { data: { limit: 1 } },
      },
      exchanges: [
        {
          request: "POST https://api.ashbyhq.com/candidate.list",
          body: { limit: 1 },
          json: { success: true, results: [], moreDataAvailable: false },
        },
      ],
      returns: containing({ status: 200, body: { success: true, results: [], moreDataAvailable: false } }),
    },
  ],
};

const completion = (text: string) => ({
  id: "cmpl-1",
  object: "chat.completion",
  model: "small",
  choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});
const ask = (model: string) => ({
  model,
  messages: [
    { role: "system", content: "You are a helpful assistant." },
    { role: "user", content: "Tea?" },
  ],
});
const openai: Service = {
  piece: "openai@0.3.18",
  family: bearerJson,
  auth: { apiKey: token },
  cases: [
    {
      action: "ask_chatgpt",
      props: { model: "gpt-4o", prompt: "Tea?" },
      exchanges: [
        { request: "POST https://api.openai.com/v1/chat/completions", body: containing(ask("gpt-4o")), json: completion("Green.") },
      ],
      returns: "Green.",
    },
    {
      action: "generate_image",
      props: { prompt: "cup", model: "dall-e-3", resolution: "1024x1024" },
      exchanges: [
        {
          request: "POST https://api.openai.com/v1/images/generations",
          body: { model: "dall-e-3", prompt: "cup", quality: "standard", size: "1024x1024" },
          json: { created: 1, data: [{ url: "https://images.example.com/cup.png" }] },
        },
      ],
      returns: { created: 1, data: [{ url: "https://images.example.com/cup.png" }] },
    },
    {
      action: "text_to_speech",
      props: { text: "Tea", model: "tts-1", voice: "alloy", format: "mp3", speed: 1 },
      exchanges: [
        {
          request: "POST https://api.openai.com/v1/audio/speech",
          body: { model: "tts-1", input: "Tea", response_format: "mp3", voice: "alloy", speed: 1 },
          text: "ID3",
          answerHeaders: { "content-type": "audio/mpeg" },
        },
      ],
      returns: like(/^\/tmp\/.+/),
    },
    {
      action: "transcribe",
      props: { audio: "data:audio/mpeg;name=tea.mp3;base64,aGk=", language: "en" },
      exchanges: [
        {
          request: "POST https://api.openai.com/v1/audio/transcriptions",
          encoding: "multipart",
          body: { file: { filename: "tea.mp3", type: "audio/mpeg", text: "hi" }, model: "whisper-1", language: "en" },
          json: { text: "Tea?" },
        },
      ],
      returns: { text: "Tea?" },
    },
    {
      action: "ask_chatgpt",
      when: "the key is refused",
      props: { model: "gpt-4o", prompt: "Tea?" },
      exchanges: [
        {
          request: "POST https://api.openai.com/v1/chat/completions",
          body: containing(ask("gpt-4o")),
          status: 401,
          json: { error: { message: "Incorrect API key provided.", type: "invalid_request_error", code: "invalid_api_key" } },
        },
      ],
      throws: like(/401|Incorrect API key/),
    },
  ],
};

const deepseek: Service = {
  piece: "deepseek@0.1.7",
  family: bearerJson,
  auth: { api_key: token },
  cases: [
    {
      action: "ask_deepseek",
      props: { model: "deepseek-chat", prompt: "Tea?" },
      exchanges: [
        { request: "POST https://api.deepseek.com/chat/completions", body: containing(ask("deepseek-chat")), json: completion("Green.") },
      ],
      returns: "Green.",
    },
    {
      action: "ask_deepseek",
      when: "the answer arrives byte by byte",
      props: { model: "deepseek-chat", prompt: "Tea?" },
      exchanges: [
        {
          request: "POST https://api.deepseek.com/chat/completions",
          body: containing(ask("deepseek-chat")),
          json: completion("Green, slowly."),
          speed: "dripping",
        },
      ],
      returns: "Green, slowly.",
    },
  ],
};

const mistral: Service = {
  piece: "mistral-ai@0.3.0",
  family: bearerJson,
  auth: { api_key: token },
  cases: [
    {
      action: "create_chat_completion",
      props: { model: "mistral-small", prompt: "Tea?" },
      exchanges: [
        {
          request: "POST https://api.mistral.ai/v1/chat/completions",
          body: { model: "mistral-small", messages: [{ content: "Tea?", role: "user" }], temperature: 1, top_p: 1 },
          json: completion("Green."),
        },
      ],
      returns: "Green.",
    },
    {
      action: "create_embeddings",
      props: { input: ["tea", "cake"] },
      exchanges: [
        {
          request: "POST https://api.mistral.ai/v1/embeddings",
          body: { model: "mistral-embed", input: ["tea", "cake"] },
          json: { object: "list", data: [{ object: "embedding", index: 0, embedding: [0.5] }] },
        },
      ],
      returns: { object: "list", data: [{ object: "embedding", index: 0, embedding: [0.5] }] },
    },
    {
      action: "upload_file",
      props: { file: "data:application/pdf;name=menu.pdf;base64,aGk=", purpose: "ocr" },
      exchanges: [
        {
          request: "POST https://api.mistral.ai/v1/files",
          encoding: "multipart",
          body: { file: { filename: "menu.pdf", type: "application/pdf", text: "hi" }, purpose: "ocr" },
          json: { id: "file-1", object: "file", bytes: 2, filename: "menu.pdf", purpose: "ocr" },
        },
      ],
      returns: { id: "file-1", object: "file", bytes: 2, filename: "menu.pdf", purpose: "ocr" },
    },
    {
      action: "run_ocr",
      props: { documentSource: "url", sourceFields: { documentUrl: "https://example.com/menu.pdf" } },
      exchanges: [
        {
          request: "POST https://api.mistral.ai/v1/ocr",
          body: { model: "mistral-ocr-latest", document: { type: "document_url", document_url: "https://example.com/menu.pdf" } },
          json: { pages: [{ index: 0, markdown: "# Menu" }], model: "mistral-ocr-latest" },
        },
      ],
      returns: containing({ markdown: "# Menu" }),
    },
    {
      action: "list_models",
      when: "the answer is not JSON",
      exchanges: [{ request: "GET https://api.mistral.ai/v1/models", status: 502, text: "<html><body>502 Bad Gateway</body></html>" }],
      throws: like(/502/),
    },
  ],
};

const pdfcrowd: Service = {
  piece: "pdfcrowd@0.2.0",
  family: basicAuth("ada", token, "multipart"),
  auth: { username: "ada", password: token },
  cases: [
    {
      action: "url_to_pdf",
      props: { url: "https://example.com/menu", outputFilename: "menu.pdf" },
      exchanges: [
        {
          request: "POST https://api.pdfcrowd.com/convert/24.04/",
          body: containing({ url: "https://example.com/menu", page_size: "A4", orientation: "portrait" }),
          text: "%PDF-1.7",
          answerHeaders: { "content-type": "application/pdf", "x-pdfcrowd-job-id": "job-1", "x-pdfcrowd-pages": "1" },
        },
      ],
      returns: containing({ file: like(/^\/tmp\/.+-menu\.pdf$/), filename: "menu.pdf", jobId: "job-1" }),
    },
  ],
};

export const keyServices: readonly Service[] = [
  baserow,
  motion,
  drip,
  ghostcms,
  apitemplate,
  trello,
  telegram,
  jotform,
  shopify,
  totalcms,
  freshdesk,
  ashby,
  openai,
  deepseek,
  mistral,
  pdfcrowd,
];
