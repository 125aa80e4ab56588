import type { PackageCase } from "./case.ts";

type Row = readonly [name: string, version: string, shows: string, imports: string, body: string, result: unknown];

const loads = "loads, a client made";
const aws = (name: string, client: string, version: string): Row => [
  `@aws-sdk/${name}`,
  version,
  loads,
  `import { ${client} } from "@aws-sdk/${name}";`,
  `return typeof new ${client}({ region: "us-east-1" }).send;`,
  "function",
];
const google = (name: string, version: string): Row => [
  `@googleapis/${name}`,
  version,
  "loads, its client and its OAuth2",
  `import it from "@googleapis/${name}";`,
  `return [typeof it.${name}, typeof it.auth.OAuth2];`,
  ["function", "function"],
];

/** Packages that public components name in their package.json, in versions that these ask for: many are years old. */
const rows: readonly Row[] = [
  aws("client-sns", "SNSClient", "3.1169.0"),
  aws("client-dynamodb", "DynamoDBClient", "3.1164.0"),
  aws("client-dynamodb-streams", "DynamoDBStreamsClient", "3.1141.0"),
  aws("client-lambda", "LambdaClient", "3.1164.0"),
  aws("client-ec2", "EC2Client", "3.1169.0"),
  aws("client-iam", "IAMClient", "3.1169.0"),
  aws("client-cloudwatch-logs", "CloudWatchLogsClient", "3.1169.0"),
  aws("client-eventbridge", "EventBridgeClient", "3.1169.0"),
  aws("client-ses", "SESClient", "3.1169.0"),
  aws("client-sts", "STSClient", "3.1169.0"),
  google("drive", "2.4.0"),
  google("gmail", "13.0.1"),
  google("sheets", "0.3.0"),
  ["@google-cloud/pubsub", "3.7.5", loads, `import { PubSub } from "@google-cloud/pubsub";`, `return typeof new PubSub({ projectId: "x" }).topic;`, "function"],
  ["@google-cloud/bigquery", "6.2.1", loads, `import { BigQuery } from "@google-cloud/bigquery";`, `return typeof new BigQuery({ projectId: "x" }).query;`, "function"],
  ["@google-cloud/storage", "6.12.0", loads, `import { Storage } from "@google-cloud/storage";`, `return typeof new Storage({ projectId: "x" }).bucket;`, "function"],
  ["@google-cloud/logging", "10.5.0", loads, `import { Logging } from "@google-cloud/logging";`, `return typeof new Logging({ projectId: "x" }).log;`, "function"],
  ["google-auth-library", "8.9.0", "loads", `import { JWT, OAuth2Client } from "google-auth-library";`, `return [typeof JWT, typeof OAuth2Client];`, ["function", "function"]],
  ["@octokit/core", "4.2.4", "a request with a token", `import { Octokit } from "@octokit/core";`, `const o = new Octokit({ baseUrl: servers.http, auth: "t" }); return (await o.request("GET /x")).data.url;`, "/x"],
  ["@octokit/plugin-paginate-rest", "2.17.0", "loads", `import { paginateRest } from "@octokit/plugin-paginate-rest";`, `return typeof paginateRest;`, "function"],
  ["@slack/web-api", "8.1.1", loads, `import { WebClient } from "@slack/web-api";`, `return typeof new WebClient("x").conversations.history;`, "function"],
  ["@notionhq/client", "1.0.4", loads, `import { Client } from "@notionhq/client";`, `return typeof new Client({ auth: "x" }).databases.query;`, "function"],
  ["stripe", "8.222.0", loads, `import Stripe from "stripe";`, `return typeof Stripe("k").webhooks.constructEvent;`, "function"],
  ["dropbox", "10.34.0", loads, `import { Dropbox } from "dropbox";`, `return typeof new Dropbox({ fetch, accessToken: "x" }).filesListFolder;`, "function"],
  ["salesforce-webhooks", "1.1.15", "loads, by its default import", `import salesforce from "salesforce-webhooks";`, `return Object.keys(salesforce);`, ["SalesforceClient"]],
  ["node-telegram-bot-api", "0.54.0", loads, `import Bot from "node-telegram-bot-api";`, `return typeof new Bot("t").sendMessage;`, "function"],
  ["snowflake-sdk", "1.15.0", "loads, a connection prepared", `import snowflake from "snowflake-sdk";`, `return typeof snowflake.createConnection({ account: "a", username: "b", password: "c" }).connect;`, "function"],
  ["mongodb", "4.17.2", loads, `import { MongoClient, ObjectId } from "mongodb";`, `return [typeof new MongoClient("mongodb://x").connect, String(new ObjectId("0".repeat(24)))];`, ["function", "0".repeat(24)]],
  ["pg-format", "1.0.4", "names and values quoted", `import format from "pg-format";`, `return format("select * from %I where a = %L", "My Table", "o'x");`, `select * from "My Table" where a = 'o''x'`],
  ["axios", "0.21.4", "a request", `import axios from "axios";`, `return (await axios.get(servers.http + "/x")).data.url;`, "/x"],
  ["got", "13.0.0", "a request", `import got from "got";`, `return (await got(servers.http + "/x").json()).url;`, "/x"],
  ["nodemailer", "8.0.5", "a message composed", `import MailComposer from "nodemailer/lib/mail-composer/index.js";`, `return (await new MailComposer({ subject: "x" }).compile().build()).includes("Subject: x");`, true],
  ["puppeteer-core", "24.43.1", "loads; there is no browser to start", `import puppeteer from "puppeteer-core";`, `return typeof puppeteer.launch;`, "function"],
  ["adm-zip", "0.6.0", "an archive made and read", `import AdmZip from "adm-zip";`, `const zip = new AdmZip(); zip.addFile("a.js", Buffer.from("x")); return new AdmZip(zip.toBuffer()).readAsText("a.js");`, "x"],
  ["file-type", "21.3.2", "bytes recognised", `import { fileTypeFromBuffer } from "file-type";`, `return fileTypeFromBuffer(Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"));`, { ext: "png", mime: "image/png" }],
  ["cron-parser", "4.9.0", "the next time", `import cron from "cron-parser";`, `return cron.parseExpression("0 9 * * *", { currentDate: new Date(0), tz: "UTC" }).next().toISOString();`, "1970-01-01T09:00:00.000Z"],
  ["mammoth", "1.11.0", "loads", `import mammoth from "mammoth";`, `return typeof mammoth.extractRawText;`, "function"],
  ["mime", "3.0.0", "a type", `import mime from "mime";`, `return mime.getType("a.png");`, "image/png"],
  ["dedent", "1.5.1", "a text", `import dedent from "dedent";`, "return dedent`\n  a\n    b`;", "a\n  b"],
  ["lodash-es", "4.17.21", "by name and by path", `import { chunk } from "lodash-es"; import get from "lodash-es/get.js";`, `return [chunk([1, 2, 3], 2), get({ a: { b: 1 } }, "a.b")];`, [[[1, 2], [3]], 1]],
  ["lodash.get", "4.4.2", "a path", `import get from "lodash.get";`, `return get({ a: [{ b: 3 }] }, "a[0].b");`, 3],
  ["uuidv4", "6.2.13", "an id, by require", ``, `const { uuid } = require("uuidv4@6.2.13"); return uuid().length;`, 36],
  ["md5", "2.3.0", "a digest", `import md5 from "md5";`, `return md5("a");`, "0cc175b9c0f1b6a831c399e269772661"],
  ["js-base64", "3.7.2", "there and back", `import { decode, encode } from "js-base64";`, `return decode(encode("ü"));`, "ü"],
  ["xss", "1.0.15", "tags escaped", `import xss from "xss";`, `return xss("<script>1</script>");`, "&lt;script&gt;1&lt;/script&gt;"],
  ["mailparser-mit", "1.0.0", "loads", `import { MailParser } from "mailparser-mit";`, `return typeof MailParser;`, "function"],
]; // prettier-ignore

export const namedCases: readonly PackageCase[] = [
  ...rows.map(([name, version, shows, imports, body, result]) => ({ package: name, version, shows, imports, body, result })),
  {
    package: "@aws-sdk/signature-v4-crt",
    version: "3.1142.0",
    shows: "loaded",
    refused: "it is native code; `@aws-sdk/s3-request-presigner` signs addresses without it",
    imports: `import "@aws-sdk/signature-v4-crt";`,
    body: `return 1;`,
    result: "NAPI",
  },
];
