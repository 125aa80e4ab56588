import type { PackageCase } from "./case.ts";

/** Clients that a service gives out. */
export const serviceCases: readonly PackageCase[] = [
  {
    package: "@slack/web-api",
    version: "8.2.0",
    shows: "a message posted, an error of the service",
    imports: `import { WebClient } from "@slack/web-api";`,
    body: `const client = new WebClient("xoxb-1", { slackApiUrl: servers.http + "/api/", retryConfig: { retries: 0 } }); const { ok, ts, got } = await client.chat.postMessage({ channel: "c", text: "hi" }); return [ok, ts, got, await client.auth.test().catch((e) => [e.code, e.data.error])];`,
    result: [true, "1.2", "channel=c&text=hi", ["slack_webapi_platform_error", "invalid_auth"]],
  },
  {
    package: "stripe",
    version: "23.1.0",
    shows: "a customer created, a webhook's signature checked",
    imports: `import Stripe from "stripe";`,
    body: `const stripe = new Stripe("sk_test_1", { host: "127.0.0.1", port: Number(new URL(servers.http).port), protocol: "http" }); const made = await stripe.customers.create({ email: "a@b.c", metadata: { k: "v" } });
      const payload = JSON.stringify({ id: "evt_1", object: "event", type: "x" }); const header = stripe.webhooks.generateTestHeaderString({ payload, secret: "whsec_1" });
      return [made.body, made.authorization, stripe.webhooks.constructEvent(payload, header, "whsec_1").id, await stripe.webhooks.constructEventAsync(payload, header, "whsec_2").catch((e) => e.type)];`,
    result: ["email=a%40b.c&metadata[k]=v", "Bearer sk_test_1", "evt_1", "StripeSignatureVerificationError"],
  },
  {
    package: "@aws-sdk/client-s3",
    version: "3.1169.0",
    shows: "buckets listed, an object put and got as a stream, one that is missing; requests signed",
    imports: `import { GetObjectCommand, ListBucketsCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";`,
    body: `const client = new S3Client({ region: "eu-west-1", endpoint: servers.http, forcePathStyle: true, credentials: { accessKeyId: "k", secretAccessKey: "s" } });
      const { Buckets } = await client.send(new ListBucketsCommand({})); await client.send(new PutObjectCommand({ Bucket: "bucket", Key: "a b", Body: "content" })); const got = await client.send(new GetObjectCommand({ Bucket: "bucket", Key: "a b" }));
      return [Buckets.map((b) => b.Name), await got.Body.transformToString(), await client.send(new GetObjectCommand({ Bucket: "bucket", Key: "none" })).catch((e) => [e.name, e.$metadata.httpStatusCode])];`,
    result: [["one", "two"], "content", ["NoSuchKey", 404]],
  },
  {
    package: "@aws-sdk/client-sqs",
    version: "3.1169.0",
    shows: "a message sent and received, its checksum compared",
    imports: `import { ReceiveMessageCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";`,
    body: `const QueueUrl = servers.http + "/sqs/q"; const client = new SQSClient({ region: "eu-west-1", endpoint: servers.http + "/sqs", credentials: { accessKeyId: "k", secretAccessKey: "s" } }); const sent = await client.send(new SendMessageCommand({ QueueUrl, MessageBody: "hé" })); const { Messages } = await client.send(new ReceiveMessageCommand({ QueueUrl })); return [sent.MessageId, Messages[0].Body];`,
    result: ["m1", "hello"],
  },
  {
    package: "@octokit/core",
    version: "7.0.8",
    shows: "a route with parameters, an error of the service",
    imports: `import { Octokit } from "@octokit/core";`,
    body: `const octokit = new Octokit({ baseUrl: servers.http, auth: "t" }); const { data } = await octokit.request("POST /repos/{owner}/{repo}/issues", { owner: "a", repo: "b", title: "t" }); return [data.url, data.body, data.authorization, await octokit.request("GET /missing").catch((e) => [e.name, e.status])];`,
    result: ["/repos/a/b/issues", `{"title":"t"}`, "token t", ["HttpError", 404]],
  },
  {
    package: "googleapis",
    version: "188.0.0",
    shows: "a calendar's events listed with a token",
    imports: `import { google } from "googleapis";`,
    body: `const auth = new google.auth.OAuth2("id", "secret"); auth.setCredentials({ access_token: "t", expiry_date: Date.now() + 3_600_000 }); const calendar = google.calendar({ version: "v3", auth, rootUrl: servers.http + "/" }); const { data } = await calendar.events.list({ calendarId: "primary", maxResults: 5 }); return [data.url, data.authorization];`,
    result: ["/calendar/v3/calendars/primary/events?maxResults=5", "Bearer t"],
  },
  {
    package: "@notionhq/client",
    version: "5.26.0",
    shows: "a page read, an error of the service",
    imports: `import { Client, isNotionClientError } from "@notionhq/client";`,
    body: `const notion = new Client({ auth: "secret", baseUrl: servers.http }); const page = await notion.pages.retrieve({ page_id: "p1" }); return [page.url, page.authorization, await new Client({ auth: "s", baseUrl: servers.http + "/missing" }).users.me({}).catch((e) => [isNotionClientError(e), e.status])];`,
    result: ["/v1/pages/p1", "Bearer secret", [true, 404]],
  },
  {
    package: "airtable",
    version: "0.12.2",
    shows: "a request sent with its key",
    imports: `import Airtable from "airtable";`,
    body: `const base = new Airtable({ apiKey: "k", endpointUrl: servers.http }).base("app1"); return await new Promise((ok, no) => base.makeRequest({ path: "/table", qs: { a: 1 } }).then((r) => ok([r.body.url, r.body.authorization]), no));`,
    result: ["/v0/app1/table?a=1", "Bearer k"],
  },
  {
    package: "twilio",
    version: "6.2.0",
    shows: "a request signed with the account, a webhook's signature checked",
    imports: `import twilio from "twilio";`,
    body: `const client = twilio("AC" + "0".repeat(32), "token"); const { body } = await client.request({ method: "POST", uri: servers.http + "/messages", data: { To: "+1", Body: "hé" }, headers: { "Content-Type": "application/x-www-form-urlencoded" } }); return [body.url, body.body, twilio.validateRequest("token", "x", "https://x/", { a: "1" })];`,
    result: ["/messages", "To=%2B1&Body=h%C3%A9", false],
  },
  {
    package: "openai",
    version: "7.57.0",
    shows: "a request of its own client over fetch, an error of the service",
    imports: `import OpenAI from "openai";`,
    body: `const client = new OpenAI({ apiKey: "k", baseURL: servers.http, maxRetries: 0 }); const answer = await client.chat.completions.create({ model: "m", messages: [] }); return [answer.url, answer.body, await new OpenAI({ apiKey: "k", baseURL: servers.http + "/missing" }).models.list().catch((e) => e.status)];`,
    result: ["/chat/completions", `{"model":"m","messages":[]}`, 404],
  },
  {
    package: "shopify-api-node",
    version: "3.15.0",
    shows: "loads; refuses a request without a shop by its own message",
    imports: `import Shopify from "shopify-api-node";`,
    body: `try { new Shopify({}); } catch (e) { return e.message; }`,
    result: "Missing or invalid options",
  },
];
