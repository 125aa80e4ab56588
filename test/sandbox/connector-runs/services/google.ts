import { containing, like, type Service } from "../contract.ts";
import { google, googleError, oauth } from "../families.ts";
import { endpoint } from "../endpoint.ts";

const of = (piece: string, cases: Service["cases"]): Service => ({ piece, family: google, auth: oauth, cases });
const refused = googleError(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.");

const folder = { kind: "drive#file", id: "folder-1", name: "Invoices", mimeType: "application/vnd.google-apps.folder" };
const drive = of("google-drive@0.2.0", [
  {
    action: "create_new_gdrive_folder",
    props: { folderName: "Invoices", parentFolder: "root-1" },
    exchanges: [
      {
        request: "POST https://www.googleapis.com/drive/v3/files",
        body: { mimeType: "application/vnd.google-apps.folder", name: "Invoices", parents: ["root-1"] },
        json: folder,
      },
    ],
    returns: folder,
  },
  {
    action: "create_new_gdrive_folder",
    when: "the token is refused",
    props: { folderName: "Invoices" },
    exchanges: [
      {
        request: "POST https://www.googleapis.com/drive/v3/files",
        body: { mimeType: "application/vnd.google-apps.folder", name: "Invoices" },
        ...refused,
      },
    ],
    throws: like(/401|invalid authentication credentials/),
  },
  {
    action: "create_new_gdrive_file",
    props: { fileName: "note.txt", text: "tea at five" },
    exchanges: [
      {
        request: "POST https://www.googleapis.com/upload/drive/v3/files?uploadType=multipart",
        encoding: "multipart",
        body: {
          Metadata: { type: "application/json", text: '{"mimeType":"plain/text","name":"note.txt"}' },
          Media: { type: "plain/text", text: "tea at five" },
        },
        json: { kind: "drive#file", id: "file-1", name: "note.txt", mimeType: "plain/text" },
      },
    ],
    returns: { kind: "drive#file", id: "file-1", name: "note.txt", mimeType: "plain/text" },
  },
]);

const spreadsheet = {
  spreadsheetId: "sheet-1",
  properties: { title: "Guests" },
  sheets: [{ properties: { sheetId: 7, title: "Arrivals", index: 0 } }],
};
const ask = { request: "GET https://sheets.googleapis.com/v4/spreadsheets/sheet-1", json: spreadsheet };
const rows = (...values: readonly (readonly string[])[]) => ({
  request: "GET https://sheets.googleapis.com/v4/spreadsheets/sheet-1/values/Arrivals",
  json: { range: "Arrivals!A1:Z1000", majorDimension: "ROWS", values },
});
const sheets = of("google-sheets@0.2.0", [
  {
    action: "insert_row",
    props: { spreadsheet_id: "sheet-1", sheet_id: 7, values: ["Ada", "12"], as_string: true },
    exchanges: [
      ask,
      {
        request: "POST https://sheets.googleapis.com/v4/spreadsheets/sheet-1/values/Arrivals:append?valueInputOption=RAW",
        body: { majorDimension: "COLUMNS", range: "Arrivals", values: [{ values: "Ada" }, { values: "12" }] },
        json: { spreadsheetId: "sheet-1", updates: { updatedRows: 1 } },
      },
    ],
    returns: { success: true },
  },
  {
    configures: "action/insert_row",
    options: "spreadsheet_id",
    exchanges: [
      {
        request: "GET https://www.googleapis.com/drive/v3/files?q=mimeType%3D%27application%2Fvnd.google-apps.spreadsheet%27",
        json: { kind: "drive#fileList", files: [{ id: "sheet-1", name: "Guests" }] },
      },
    ],
    gives: [{ label: "Guests", value: "sheet-1" }],
  },
  {
    configures: "action/insert_row",
    options: "sheet_id",
    props: { spreadsheet_id: "sheet-1" },
    exchanges: [ask],
    gives: [{ label: "Arrivals", value: 7 }],
  },
  {
    trigger: "new_row_added",
    props: { spreadsheet_id: "sheet-1", sheet_id: 7 },
    calls: [
      { call: "activate", exchanges: [ask, rows(["Ada", "1"])] },
      { call: "poll", exchanges: [ask, rows(["Ada", "1"])] },
      {
        call: "poll",
        exchanges: [ask, rows(["Ada", "1"], ["Bea", "2"], ["Cleo", "3"])],
        emits: [{ value: ["Cleo", "3"] }, { value: ["Bea", "2"] }],
      },
      { call: "poll", exchanges: [ask, rows(["Ada", "1"], ["Bea", "2"], ["Cleo", "3"])] },
    ],
  },
]);

const person = {
  resourceName: "people/c1",
  etag: "e1",
  names: [{ givenName: "Ada", familyName: "Byron" }],
  emailAddresses: [{ value: "ada@example.com" }],
};
const contactFields = "*";
const contacts = of("google-contacts@0.2.0", [
  {
    action: "add_contact",
    props: { firstName: "Ada", lastName: "Byron", email: "ada@example.com", company: "Engines" },
    exchanges: [
      {
        request: "POST https://people.googleapis.com/v1/people:createContact",
        body: {
          names: [{ givenName: "Ada", familyName: "Byron" }],
          emailAddresses: [{ value: "ada@example.com", primary: true }],
          organizations: [{ name: "Engines" }],
        },
        json: person,
      },
    ],
    returns: person,
  },
  {
    trigger: "new_or_updated_contact",
    calls: [
      {
        call: "activate",
        exchanges: [
          {
            request: `GET https://people.googleapis.com/v1/people/me/connections?personFields=${contactFields}&requestSyncToken=true`,
            json: { connections: [person], nextSyncToken: "sync-1" },
          },
        ],
      },
      {
        call: "poll",
        exchanges: [
          {
            request: `GET https://people.googleapis.com/v1/people/me/connections?personFields=${contactFields}&requestSyncToken=true&syncToken=sync-1`,
            json: {
              connections: [
                { ...person, metadata: {} },
                { resourceName: "people/c2", metadata: { deleted: true } },
              ],
              nextSyncToken: "sync-2",
            },
          },
          {
            request: `GET https://people.googleapis.com/v1/people/me/connections?personFields=${contactFields}&requestSyncToken=true&syncToken=sync-2`,
            json: { nextSyncToken: "sync-3" },
          },
        ],
        emits: [{ ...person, metadata: {} }],
      },
    ],
  },
]);

const message = { id: "m1", threadId: "t1", labelIds: ["INBOX"], snippet: "Tea at five", historyId: "9" };
const thread = { id: "t1", historyId: "9", messages: [message] };
const gmail = of("gmail@0.2.0", [
  {
    action: "send_email",
    props: { receiver: "ada@example.com", subject: "Tea", body_text: "At five?" },
    exchanges: [
      {
        request: "POST https://gmail.googleapis.com/gmail/v1/users/me/messages/send",
        body: {
          raw: Buffer.from("subject: Tea\nto: ada@example.com\nmime-version: 1.0\ncontent-type: text/html\n\nAt five?").toString(
            "base64url",
          ),
        },
        json: { id: "m2", threadId: "t2", labelIds: ["SENT"] },
      },
    ],
    returns: containing({ status: 200, body: { id: "m2", threadId: "t2", labelIds: ["SENT"] } }),
  },
  {
    action: "gmail_get_mail",
    props: { message_id: "m1", format: "minimal" },
    exchanges: [{ request: "GET https://gmail.googleapis.com/gmail/v1/users/me/messages/m1?format=minimal", json: message }],
    returns: message,
  },
  {
    action: "gmail_get_thread",
    props: { thread_id: "t1", format: "full" },
    exchanges: [{ request: "GET https://gmail.googleapis.com/gmail/v1/users/me/threads/t1?format=full", json: thread }],
    returns: thread,
  },
  {
    action: "gmail_get_mail",
    when: "there is no such message",
    props: { message_id: "m9", format: "full" },
    exchanges: [
      {
        request: "GET https://gmail.googleapis.com/gmail/v1/users/me/messages/m9?format=full",
        ...googleError(404, "NOT_FOUND", "Requested entity was not found."),
      },
    ],
    throws: like(/404|not found/),
  },
  {
    trigger: "gmail_new_email_received",
    props: { from: "ada@example.com", subject: "", to: "" },
    calls: [
      { call: "activate" },
      {
        call: "poll",
        exchanges: [
          {
            request: "GET https://www.googleapis.com/gmail/v1/users/me/messages?q=*&maxResults=25",
            json: { messages: [{ id: "m1", threadId: "t1" }], resultSizeEstimate: 1 },
          },
          { request: "GET https://gmail.googleapis.com/gmail/v1/users/me/messages/m1?format=full", json: message },
          { request: "GET https://gmail.googleapis.com/gmail/v1/users/me/threads/t1?format=full", json: thread },
        ],
        emits: [{ message, thread }],
      },
      {
        call: "poll",
        exchanges: [
          { request: "GET https://www.googleapis.com/gmail/v1/users/me/messages?q=*&maxResults=25", json: { resultSizeEstimate: 0 } },
        ],
      },
    ],
  },
]);

const response = { responseId: "r1", createTime: "2099-01-01T00:00:00Z", lastSubmittedTime: "2099-01-01T00:00:00Z", answers: {} };
const forms = of("google-forms@0.3.0", [
  {
    trigger: "new_response",
    props: { form_id: "form-1" },
    calls: [
      { call: "activate" },
      {
        call: "poll",
        exchanges: [{ request: "GET https://forms.googleapis.com/v1/forms/form-1/responses?filter=*", json: { responses: [response] } }],
        emits: [response],
      },
      {
        call: "poll",
        exchanges: [{ request: "GET https://forms.googleapis.com/v1/forms/form-1/responses?filter=*", json: { responses: [response] } }],
      },
    ],
  },
]);

const review = {
  name: "accounts/1/locations/2/reviews/3",
  starRating: "FIVE",
  comment: "Good tea",
  createTime: "2099-01-01T00:00:00Z",
  updateTime: "2099-01-01T00:00:00Z",
};
const reviews = "GET https://mybusiness.googleapis.com/v4/accounts/1/locations/2/reviews?pageSize=100&orderBy=updateTime+desc";
const business = of("google-my-business@0.0.1", [
  {
    action: "create-reply",
    props: { reviewName: review.name, comment: "Thank you" },
    exchanges: [
      {
        request: `PUT https://mybusiness.googleapis.com/v4/${review.name}/reply`,
        body: { comment: "Thank you" },
        json: { comment: "Thank you", updateTime: "2026-01-01T00:00:00Z" },
      },
    ],
    returns: containing({ status: 200, body: { comment: "Thank you", updateTime: "2026-01-01T00:00:00Z" } }),
  },
  {
    trigger: "new_review",
    props: { account: "accounts/1", location: "locations/2" },
    calls: [
      { call: "activate" },
      { call: "poll", exchanges: [{ request: reviews, json: { reviews: [review], totalReviewCount: 1 } }], emits: [review] },
      { call: "poll", exchanges: [{ request: reviews, json: { reviews: [review], totalReviewCount: 1 } }] },
    ],
  },
]);

const tasks = of("google-tasks@0.2.0", [
  {
    action: "add_task",
    props: { tasks_list: "list-1", title: "Buy tea", notes: "green", completed: false },
    exchanges: [
      {
        request: "POST https://tasks.googleapis.com/tasks/v1/lists/list-1/tasks",
        body: { kind: "tasks#task", status: "needsAction", title: "Buy tea", completed: "", notes: "green" },
        json: { kind: "tasks#task", id: "task-1", title: "Buy tea", status: "needsAction" },
      },
    ],
    returns: containing({ status: 200, body: { kind: "tasks#task", id: "task-1", title: "Buy tea", status: "needsAction" } }),
  },
]);

const channel = { kind: "api#channel", id: "channel-1", resourceId: "resource-1", expiration: "1893456000000" };
const event = { kind: "calendar#event", id: "event-1", status: "confirmed", summary: "Tea", updated: "2026-01-01T00:00:00Z" };
const calendar = of("google-calendar@0.2.0", [
  {
    action: "create_quick_event",
    props: { calendar_id: "team@example.com", text: "Tea at five", send_updates: "none" },
    exchanges: [
      {
        request: "POST https://www.googleapis.com/calendar/v3/calendars/team@example.com/events/quickAdd?text=Tea+at+five&sendUpdates=none",
        body: {},
        json: event,
      },
    ],
    returns: containing({ status: 200, body: event }),
  },
  {
    trigger: "new_or_updated_event",
    props: { calendar_id: "team@example.com" },
    calls: [
      {
        call: "activate",
        exchanges: [
          {
            request: "POST https://www.googleapis.com/calendar/v3/calendars/team@example.com/events/watch",
            body: { id: like(/^[0-9a-f-]{36}$/), type: "web_hook", address: endpoint },
            json: channel,
          },
        ],
      },
      {
        call: "deliver",
        deliver: { headers: { "x-goog-resource-state": "exists", "x-goog-channel-id": "channel-1" } },
        exchanges: [
          {
            request:
              "GET https://www.googleapis.com/calendar/v3/calendars/team@example.com/events?updatedMin=*&maxResults=2500&orderBy=updated&singleEvents=true&showDeleted=true&pageToken=",
            json: { kind: "calendar#events", items: [{ ...event, id: "event-0" }, event] },
          },
        ],
        emits: [event],
      },
      {
        call: "deactivate",
        exchanges: [
          {
            request: "POST https://www.googleapis.com/calendar/v3/channels/stop",
            body: { id: "channel-1", resourceId: "resource-1" },
            status: 204,
          },
        ],
      },
    ],
  },
]);

export const googleServices: readonly Service[] = [drive, sheets, contacts, gmail, forms, business, tasks, calendar];
