import { containing, like, type Service } from "../contract.ts";
import { endpoint } from "../endpoint.ts";
import { bearerJson, oauth, token } from "../families.ts";

/** Services with JSON and a bearer token. */
const of = (piece: string, cases: Service["cases"], auth = oauth): Service => ({ piece, family: bearerJson, auth, cases });

const option = (label: string, value: unknown = label) => ({ label, value });

const record = { id: "rec1", createdTime: "2026-01-01T00:00:00.000Z", fields: { Name: "Tea" } };
const airtableHeaders = { "x-api-version": "0.1.0", "x-airtable-application-id": "app1", "content-type": "application/json" };
const table = { authentication: token, base: "app1", tableId: "tbl1" };
const airtableTable = {
  id: "tbl1",
  name: "Guests",
  fields: [
    { id: "fldName", name: "Name", type: "singleLineText" },
    { id: "fldCups", name: "Cups", type: "number" },
    { id: "fldDone", name: "Done", type: "checkbox" },
    { id: "fldKind", name: "Kind", type: "singleSelect", options: { choices: [{ id: "sel1", name: "Green" }] } },
  ],
};
const airtable: Service = {
  piece: "airtable@0.2.0",
  family: bearerJson,
  cases: [
    {
      action: "airtable_create_record",
      props: { ...table, fields: { fldName: "Tea", fldEmpty: "" } },
      exchanges: [{ request: "POST https://api.airtable.com/v0/app1/tbl1", body: { fields: { fldName: "Tea" } }, json: record }],
      returns: record,
    },
    {
      action: "airtable_create_record",
      when: "a field is wrong",
      props: { ...table, fields: { fldNone: "Tea" } },
      exchanges: [
        {
          request: "POST https://api.airtable.com/v0/app1/tbl1",
          body: { fields: { fldNone: "Tea" } },
          status: 422,
          json: { error: { type: "UNKNOWN_FIELD_NAME", message: 'Unknown field name: "fldNone"' } },
        },
      ],
      throws: like(/422/),
    },
    {
      configures: "action/airtable_create_record",
      options: "base",
      props: { authentication: token },
      exchanges: [{ request: "GET https://api.airtable.com/v0/meta/bases", json: { bases: [{ id: "app1", name: "Guests" }] } }],
      gives: [option("Guests", "app1")],
    },
    {
      configures: "action/airtable_create_record",
      props: table,
      exchanges: [{ request: "GET https://api.airtable.com/v0/meta/bases/app1/tables", json: { tables: [airtableTable] } }],
      gives: [
        ["fields_fldName", "string"],
        ["fields_fldCups", "any"],
        ["fields_fldDone", "boolean"],
        ["fields_fldKind", "string"],
      ],
    },
    {
      trigger: "new_record",
      props: table,
      calls: [
        {
          call: "activate",
          exchanges: [{ request: "GET https://api.airtable.com/v0/app1/tbl1?", headers: airtableHeaders, json: { records: [record] } }],
        },
        {
          call: "poll",
          exchanges: [
            {
              request: "GET https://api.airtable.com/v0/app1/tbl1?",
              headers: airtableHeaders,
              json: { records: [record], offset: "page-2" },
            },
            {
              request: "GET https://api.airtable.com/v0/app1/tbl1?offset=page-2",
              headers: airtableHeaders,
              json: { records: [{ ...record, id: "rec2", fields: { Name: "Cake" } }] },
            },
          ],
          emits: [{ ...record, id: "rec2", fields: { Name: "Cake" } }],
        },
      ],
    },
  ],
};

const task = { gid: "12", name: "Buy tea", notes: "green", projects: [{ gid: "34" }] };
const asana = of("asana@0.2.0", [
  {
    action: "create_task",
    props: { workspace: "9", project: "34", name: "Buy tea", notes: "green" },
    exchanges: [
      {
        request: "POST https://app.asana.com/api/1.0/tasks",
        body: { data: { name: "Buy tea", projects: ["34"], notes: "green" } },
        status: 201,
        json: { data: task },
      },
    ],
    returns: task,
  },
  {
    configures: "action/create_task",
    options: "project",
    props: { workspace: "9" },
    exchanges: [{ request: "GET https://app.asana.com/api/1.0/projects?workspace=9", json: { data: [{ gid: "34", name: "House" }] } }],
    gives: [option("House", "34")],
  },
  {
    configures: "action/create_task",
    options: "project",
    when: "the workspace is not chosen yet",
    throws: like(/^project: /),
  },
  {
    action: "create_task",
    when: "the service is down",
    props: { workspace: "9", project: "34", name: "Buy tea", notes: "green" },
    exchanges: [
      {
        request: "POST https://app.asana.com/api/1.0/tasks",
        body: { data: { name: "Buy tea", projects: ["34"], notes: "green" } },
        status: 500,
        json: { errors: [{ message: "Server Error", phrase: "6 sad squid snuggle softly" }] },
      },
    ],
    throws: like(/500/),
  },
]);

const clickupTask = { id: "t1", name: "Buy tea", status: { status: "to do" } };
const clickupEvent = (event: string) => ({ event, task_id: "t1", webhook_id: "w1", history_items: [] });
const clickupTrigger = (name: string, event: string): Service["cases"][number] => ({
  trigger: name,
  props: { workspace_id: "9" },
  calls: [
    {
      call: "activate",
      exchanges: [
        {
          request: "POST https://api.clickup.com/api/v2/team/9/webhook",
          body: { endpoint, events: [event] },
          json: { id: "w1", webhook: { id: "w1", endpoint, events: [event] } },
        },
      ],
    },
    {
      call: "deliver",
      deliver: { body: clickupEvent(event) },
      exchanges: event === "taskDeleted" ? [] : [{ request: "GET https://api.clickup.com/api/v2/task/t1", json: clickupTask }],
      emits: [event === "taskDeleted" ? clickupEvent(event) : { ...clickupEvent(event), task: clickupTask }],
    },
    { call: "deactivate", exchanges: [{ request: "DELETE https://api.clickup.com/api/v2/webhook/w1", json: {} }] },
  ],
});
// This client sends an empty object with a GET request, too.
const clickup = of("clickup@0.2.0", [
  {
    action: "create_task",
    props: { workspace_id: "9", space_id: "8", list_id: "7", name: "Buy tea", description: "green" },
    exchanges: [
      { request: "POST https://api.clickup.com/api/v2/list/7/task", body: { name: "Buy tea", description: "green" }, json: clickupTask },
    ],
    returns: clickupTask,
  },
  {
    action: "get_list",
    props: { list_id: "7" },
    exchanges: [{ request: "GET https://api.clickup.com/api/v2/list/7", body: {}, json: { id: "7", name: "Shopping" } }],
    returns: { id: "7", name: "Shopping" },
  },
  {
    action: "get_spaces",
    props: { team_id: "9" },
    exchanges: [{ request: "GET https://api.clickup.com/api/v2/team/9/space", body: {}, json: { spaces: [{ id: "8", name: "Home" }] } }],
    returns: { spaces: [{ id: "8", name: "Home" }] },
  },
  {
    configures: "action/create_task",
    options: "list_id",
    props: { workspace_id: "9", space_id: "8" },
    exchanges: [
      { request: "GET https://api.clickup.com/api/v2/space/8/folder", json: { folders: [{ id: "f1" }] } },
      { request: "GET https://api.clickup.com/api/v2/space/8/list", json: { lists: [{ id: "7", name: "Shopping" }] } },
      { request: "GET https://api.clickup.com/api/v2/folder/f1/list", json: { lists: [{ id: "6", name: "Garden" }] } },
    ],
    gives: [option("Shopping", "7"), option("Garden", "6")],
  },
  clickupTrigger("clickup_trigger_task_created", "taskCreated"),
  clickupTrigger("clickup_trigger_task_deleted", "taskDeleted"),
]);

const dropbox = of("dropbox@0.2.0", [
  {
    action: "create_new_dropbox_folder",
    props: { path: "/Tea", autorename: true },
    exchanges: [
      {
        request: "POST https://api.dropboxapi.com/2/files/create_folder_v2",
        body: { autorename: true, path: "/Tea" },
        json: { metadata: { name: "Tea", id: "id:1", path_display: "/Tea" } },
      },
    ],
    returns: { metadata: { name: "Tea", id: "id:1", path_display: "/Tea" } },
  },
  {
    action: "create_new_dropbox_text_file",
    props: { path: "/Tea/note.txt", text: "Grün, um fünf", autorename: false, mute: false, strict_conflict: false },
    exchanges: [
      {
        request: "POST https://content.dropboxapi.com/2/files/upload",
        headers: {
          "content-type": "application/octet-stream",
          "dropbox-api-arg": '{"autorename":false,"path":"/Tea/note.txt","mode":"add","mute":false,"strict_conflict":false}',
        },
        encoding: "text",
        body: "Grün, um fünf",
        json: { name: "note.txt", id: "id:2", size: 15 },
      },
    ],
    returns: { name: "note.txt", id: "id:2", size: 15 },
  },
]);

const property = (name: string, value: string) => ({ property: name, value });
const hubspot = of("hubspot@0.2.0", [
  {
    action: "create_or_update_contact",
    props: { email: "ada@example.com", firstName: "Ada", lastName: "Byron", zip: "1234" },
    exchanges: [
      {
        request: "POST https://api.hubapi.com/contacts/v1/contact/createOrUpdate/email/ada@example.com",
        body: { properties: [property("firstname", "Ada"), property("lastname", "Byron"), property("zip", "1234")] },
        json: { vid: 101, isNew: true },
      },
    ],
    returns: { vid: 101, isNew: true },
  },
  {
    action: "add_contact_to_list",
    props: { listId: 5, email: "ada@example.com" },
    exchanges: [
      {
        request: "POST https://api.hubapi.com/contacts/v1/lists/5/add",
        body: { emails: ["ada@example.com"] },
        json: { updated: [101], discarded: [], invalidVids: [], invalidEmails: [] },
      },
    ],
    returns: { updated: [101], discarded: [], invalidVids: [], invalidEmails: [] },
  },
]);

const todo = { id: "77", content: "Buy tea", labels: ["home"], priority: 4, project_id: "p1", is_completed: false };
const completed = (id: string, at: string) => ({ id, task_id: "77", content: "Buy tea", completed_at: at });
const completedList = "GET https://api.todoist.com/sync/v9/completed/get_all?limit=200&since=*&until=*&project_id=p1";
const todoist = of("todoist@0.3.1", [
  {
    action: "create_task",
    props: { project_id: "p1", content: "Buy tea", labels: ["home"], priority: 4 },
    exchanges: [
      {
        request: "POST https://api.todoist.com/rest/v2/tasks",
        body: { content: "Buy tea", project_id: "p1", labels: ["home"], priority: 4 },
        json: todo,
      },
    ],
    returns: todo,
  },
  {
    action: "create_task",
    when: "there were too many requests",
    props: { content: "Buy tea" },
    exchanges: [
      { request: "POST https://api.todoist.com/rest/v2/tasks", body: { content: "Buy tea" }, status: 429, text: "Too many requests" },
    ],
    throws: like(/429/),
  },
  {
    configures: "action/create_task",
    options: "project_id",
    exchanges: [{ request: "GET https://api.todoist.com/rest/v2/projects", json: [{ id: "p1", name: "Home" }] }],
    gives: [option("Home", "p1")],
  },
  {
    trigger: "task_completed",
    props: { project_id: "p1" },
    calls: [
      { call: "activate" },
      { call: "poll", exchanges: [{ request: completedList, json: { items: [], projects: {}, sections: {} } }] },
      {
        call: "poll",
        exchanges: [
          {
            request: completedList,
            json: { items: [completed("2", "2099-01-02T00:00:00Z"), completed("1", "2099-01-01T00:00:00Z")], projects: {}, sections: {} },
          },
        ],
        emits: [completed("1", "2099-01-01T00:00:00Z"), completed("2", "2099-01-02T00:00:00Z")],
      },
    ],
  },
]);

const comment = { id: "c1", message: "Nice cup", file_key: "f1" };
const figma = of("figma@0.3.1", [
  {
    action: "get_comments",
    props: { file_key: "f1" },
    exchanges: [{ request: "GET https://api.figma.com/v1/files/f1/comments", json: { comments: [comment] } }],
    returns: containing({ success: true, response_body: { comments: [comment] } }),
  },
  {
    action: "post_comment",
    props: { file_key: "f1", message: "Nice cup" },
    exchanges: [{ request: "POST https://api.figma.com/v1/files/f1/comments", body: { message: "Nice cup" }, json: comment }],
    returns: { success: true, request_body: { message: "Nice cup" }, response_body: comment },
  },
  {
    trigger: "new_comment",
    props: { team_id: "team-1" },
    calls: [
      {
        call: "activate",
        exchanges: [
          {
            request: "POST https://api.figma.com/v2/webhooks",
            body: { event_type: "FILE_COMMENT", team_id: "team-1", endpoint, passcode: like(/^figma_passcode_[\w-]{10,}$/) },
            json: { id: "22", team_id: "team-1", event_type: "FILE_COMMENT", status: "ACTIVE" },
          },
        ],
      },
      { call: "deliver", deliver: { body: { event_type: "PING", webhook_id: "22" } } },
      {
        call: "deliver",
        deliver: { body: { event_type: "FILE_COMMENT", webhook_id: "22", comment_id: "c1" } },
        emits: [{ event_type: "FILE_COMMENT", webhook_id: "22", comment_id: "c1" }],
      },
      { call: "deactivate", exchanges: [{ request: "DELETE https://api.figma.com/v2/webhooks/22", json: { id: "22" } }] },
    ],
  },
]);

const form = { event_id: "e1", event_type: "form_response", form_response: { form_id: "form1", token: "r1", answers: [] } };
const typeform = of("typeform@0.2.0", [
  {
    trigger: "new_submission",
    props: { form_id: "form1" },
    calls: [
      {
        call: "activate",
        exchanges: [
          {
            request: "PUT https://api.typeform.com/forms/form1/webhooks/*",
            body: { enabled: true, url: endpoint },
            json: { id: "w1", form_id: "form1", enabled: true, url: endpoint },
          },
        ],
      },
      { call: "deliver", deliver: { body: form }, emits: [form.form_response] },
      // This version of the package looks its webhook up by another name, and so never removes it.
      { call: "deactivate" },
    ],
  },
]);

const survey = { id: "r1", survey_id: "s1", pages: [] };
const surveymonkey = of("surveymonkey@0.2.0", [
  {
    trigger: "new_response",
    props: { survey: "s1" },
    calls: [
      {
        call: "activate",
        exchanges: [
          {
            request: "POST https://api.surveymonkey.com/v3/webhooks",
            body: {
              name: "New Response Webhook",
              event_type: "response_created",
              object_type: "survey",
              object_ids: ["s1"],
              subscription_url: endpoint,
            },
            status: 201,
            json: { id: "w1", name: "New Response Webhook" },
          },
        ],
      },
      {
        call: "deliver",
        deliver: { body: { event_type: "response_created", object_type: "response", object_id: "r1", resources: { survey_id: "s1" } } },
        exchanges: [{ request: "GET https://api.surveymonkey.com/v3/surveys/s1/responses/r1/details", json: survey }],
        emits: [survey],
      },
      { call: "deactivate", exchanges: [{ request: "DELETE https://api.surveymonkey.com/v3/webhooks/w1", json: { id: "w1" } }] },
    ],
  },
]);

const person = { id: 5, name: "Ada Byron", add_time: "2026-01-01 00:00:00" };
const pipedriveAuth = { ...oauth, api_domain: "https://tea.pipedrive.com" };
const pipedrive = of(
  "pipedrive@0.2.0",
  [
    {
      action: "add_person",
      props: { name: "Ada Byron", email: "ada@example.com" },
      exchanges: [
        {
          request: "POST https://tea.pipedrive.com/api/v1/persons",
          body: { name: "Ada Byron", email: "ada@example.com" },
          status: 201,
          json: { success: true, data: person },
        },
      ],
      returns: person,
    },
    {
      trigger: "new_person",
      calls: [
        {
          call: "activate",
          exchanges: [
            {
              request: "POST https://tea.pipedrive.com/api/v1/webhooks",
              body: { event_object: "person", event_action: "added", subscription_url: endpoint },
              status: 201,
              json: { status: "ok", success: true, data: { id: 88, event_object: "person" } },
            },
          ],
        },
        { call: "deliver", deliver: { body: { event: "added.person", current: person, previous: null } }, emits: [person] },
        {
          call: "deactivate",
          exchanges: [{ request: "DELETE https://tea.pipedrive.com/api/v1/webhooks/88", json: { status: "ok", success: true } }],
        },
      ],
    },
  ],
  pipedriveAuth,
);

const hook = { id: "wh-1", triggerType: "form_submission", url: endpoint };
const webflow = of("webflow@0.3.0", [
  {
    action: "list_sites",
    exchanges: [{ request: "GET https://api.webflow.com/sites", json: [{ _id: "site-1", name: "Tea" }] }],
    returns: [{ _id: "site-1", name: "Tea" }],
  },
  {
    action: "create_collection_item",
    props: { site_id: "site-1", collection_id: "c1", collection_fields: { name: "Tea" }, is_draft: true },
    exchanges: [
      {
        request: "GET https://api.webflow.com/collections/c1",
        json: { _id: "c1", fields: [{ slug: "name", type: "PlainText", editable: true }] },
      },
      {
        request: "POST https://api.webflow.com/collections/c1/items",
        body: { fields: { name: "Tea", _draft: true } },
        json: { _id: "i1", name: "Tea", _draft: true },
      },
    ],
    returns: { _id: "i1", name: "Tea", _draft: true },
  },
  {
    configures: "action/create_collection_item",
    options: "collection_id",
    props: { site_id: "site-1" },
    exchanges: [{ request: "GET https://api.webflow.com/sites/site-1/collections", json: [{ _id: "c1", name: "Teas" }] }],
    gives: [option("Teas", "c1")],
  },
  {
    action: "delete_collection_item",
    props: { site_id: "site-1", collection_id: "c1", collection_item_id: "i1" },
    exchanges: [{ request: "DELETE https://api.webflow.com/collections/c1/items/i1", json: { deleted: 1 } }],
    returns: { deleted: 1 },
  },
  {
    action: "fulfill_order",
    props: { site_id: "site-1", order_id: "o1", send_order_fulfilled_email: true },
    exchanges: [
      {
        request: "POST https://api.webflow.com/sites/site-1/orders/o1/fulfill",
        body: { sendOrderFulfilledEmail: true },
        json: { orderId: "o1", status: "fulfilled" },
      },
    ],
    returns: { orderId: "o1", status: "fulfilled" },
  },
  {
    action: "list_sites",
    when: "the token is refused",
    exchanges: [
      {
        request: "GET https://api.webflow.com/sites",
        status: 401,
        json: { msg: "Unauthorized", code: 401, name: "Unauthorized", err: "Unauthorized" },
      },
    ],
    throws: like(/401|Unauthorized/),
  },
  {
    trigger: "new_submission",
    props: { site_id: "site-1" },
    calls: [
      {
        call: "activate",
        exchanges: [
          {
            request: "POST https://api.webflow.com/sites/site-1/webhooks",
            body: { triggerType: "form_submission", url: endpoint },
            json: { ...hook, _id: "wh-1" },
          },
        ],
      },
      {
        call: "deliver",
        deliver: { body: { name: "Contact", site: "site-1", data: { email: "ada@example.com" } } },
        emits: [{ name: "Contact", site: "site-1", data: { email: "ada@example.com" } }],
      },
      { call: "deactivate", exchanges: [{ request: "DELETE https://api.webflow.com/sites/site-1/webhooks/wh-1", json: { deleted: 1 } }] },
    ],
  },
]);

const metadata = {
  request: "GET https://login.mailchimp.com/oauth2/metadata",
  headers: { authorization: `OAuth ${token}` },
  json: { dc: "us1", api_endpoint: "https://us1.api.mailchimp.com" },
};
const subscription = { type: "subscribe", fired_at: "2026-01-01 00:00:00", data: { id: "m1", list_id: "l1", email: "ada@example.com" } };
const mailchimp = of("mailchimp@0.2.0", [
  {
    action: "add_member_to_list",
    props: { list_id: "l1", email: "ada@example.com", status: "subscribed" },
    exchanges: [
      metadata,
      {
        request: "POST https://us1.api.mailchimp.com/3.0/lists/l1/members",
        body: { email_address: "ada@example.com", status: "subscribed" },
        json: { id: "m1", email_address: "ada@example.com", status: "subscribed" },
      },
    ],
    returns: { id: "m1", email_address: "ada@example.com", status: "subscribed" },
  },
  {
    configures: "action/add_member_to_list",
    options: "list_id",
    exchanges: [
      metadata,
      {
        request: "GET https://us1.api.mailchimp.com/3.0/lists?fields=lists.id,lists.name,total_items&count=1000",
        json: { lists: [{ id: "l1", name: "Guests" }], total_items: 1 },
      },
    ],
    gives: [option("Guests", "l1")],
  },
  {
    trigger: "subscribe",
    props: { list_id: "l1" },
    calls: [
      {
        call: "activate",
        exchanges: [
          metadata,
          {
            request: "POST https://us1.api.mailchimp.com/3.0/lists/l1/webhooks",
            body: { url: endpoint, events: { subscribe: true }, sources: { user: true, admin: true, api: true } },
            json: { id: "w1", list_id: "l1", url: endpoint },
          },
        ],
      },
      { call: "deliver", deliver: { body: subscription }, emits: [subscription] },
      {
        call: "deactivate",
        exchanges: [metadata, { request: "DELETE https://us1.api.mailchimp.com/3.0/lists/l1/webhooks/w1", status: 204 }],
      },
    ],
  },
]);

const meeting = { topic: "Tea", duration: 30, type: 2 };
const zoom = of("zoom@0.2.0", [
  {
    action: "zoom_create_meeting",
    props: { topic: "Tea", duration: 30 },
    exchanges: [
      {
        request: "POST https://api.zoom.us/v2/users/me/meetings",
        body: containing(meeting),
        status: 201,
        json: { id: 9, join_url: "https://zoom.us/j/9", ...meeting },
      },
    ],
    returns: { id: 9, join_url: "https://zoom.us/j/9", ...meeting },
  },
  {
    action: "zoom_create_meeting_registrant",
    props: { meeting_id: "9", first_name: "Ada", email: "ada@example.com" },
    exchanges: [
      {
        request: "POST https://api.zoom.us/v2/meetings/9/registrants",
        body: { first_name: "Ada", email: "ada@example.com" },
        status: 201,
        json: { id: 9, registrant_id: "g1" },
      },
    ],
    returns: { id: 9, registrant_id: "g1" },
  },
]);

const status = { id: "1", content: "<p>Tea</p>", visibility: "public" };
const mastodon = of(
  "mastodon@0.3.0",
  [
    {
      action: "post_status",
      props: { status: "Tea" },
      exchanges: [{ request: "POST https://social.example.com/api/v1/statuses", body: { status: "Tea" }, json: status }],
      returns: containing({ status: 200, body: status }),
    },
  ],
  { base_url: "https://social.example.com", access_token: token },
);

export const bearerServices: readonly Service[] = [
  airtable,
  asana,
  clickup,
  dropbox,
  hubspot,
  todoist,
  figma,
  typeform,
  surveymonkey,
  pipedrive,
  webflow,
  mailchimp,
  zoom,
  mastodon,
];
