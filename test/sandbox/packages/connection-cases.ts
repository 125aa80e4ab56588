import type { PackageCase } from "./case.ts";

/** Clients that speak over connections of their own: databases, queues, mail. */
export const connectionCases: readonly PackageCase[] = [
  {
    package: "pg",
    version: "8.23.1",
    shows: "parameters, types, a transaction, errors, a pool, against a real server",
    imports: `import pg from "pg";`,
    body: `const pool = new pg.Pool({ connectionString: servers.postgres, max: 2 }); const client = await pool.connect(); await client.query("begin"); await client.query("create temporary table t (a int, b text, c jsonb)"); await client.query("insert into t values ($1, $2, $3)", [1, "é", { d: [2] }]); const { rows } = await client.query("select * from t"); await client.query("rollback"); const wrong = await client.query("select nope").catch((e) => [e.code, e.severity]); client.release(); const times = await Promise.all([1, 2, 3].map((n) => pool.query("select $1::int + 1 as n, now() as at", [n]))); await pool.end(); return [rows, wrong, times.map((t) => [t.rows[0].n, t.rows[0].at instanceof Date])];`,
    result: [
      [{ a: 1, b: "é", c: { d: [2] } }],
      ["42703", "ERROR"],
      [
        [2, true],
        [3, true],
        [4, true],
      ],
    ],
  },
  {
    package: "mysql2",
    version: "3.24.6",
    shows: "handshake, a query",
    imports: `import mysql from "mysql2/promise";`,
    body: `const connection = await mysql.createConnection({ host: "127.0.0.1", port: servers.mysql, user: "u", password: "p", database: "d" }); const [rows, fields] = await connection.query("select 'x' as name"); await connection.end(); return [rows, fields.map((f) => f.name)];`,
    result: [[{ name: "x" }], ["name"]],
  },
  {
    package: "redis",
    version: "6.3.1",
    shows: "handshake, set, get",
    imports: `import { createClient } from "redis";`,
    body: `const client = createClient({ url: "redis://127.0.0.1:" + servers.redis }); client.on("error", () => {}); await client.connect(); await client.set("k", "hé"); const value = [await client.get("k"), await client.get("none")]; await client.close(); return value;`,
    result: ["hé", null],
  },
  {
    package: "ioredis",
    version: "6.0.0",
    shows: "set, get, a pipeline",
    imports: `import Redis from "ioredis";`,
    body: `const redis = new Redis(servers.redis, "127.0.0.1"); await redis.set("k", "v"); const piped = await redis.pipeline().set("a", "1").get("a").exec(); const value = await redis.get("k"); redis.disconnect(); return [value, piped.map(([, answer]) => answer)];`,
    result: ["v", ["OK", "1"]],
  },
  {
    package: "mongodb",
    version: "7.9.0",
    shows: "handshake, insert, find",
    imports: `import { MongoClient } from "mongodb";`,
    body: `const client = new MongoClient("mongodb://127.0.0.1:" + servers.mongo + "/?directConnection=true", { serverSelectionTimeoutMS: 5000 }); const things = client.db("d").collection("things"); const { insertedCount } = await things.insertMany([{ _id: 1, a: "é" }]); const found = await things.find({ _id: 1 }).toArray(); await client.close(); return [insertedCount, found];`,
    result: [1, [{ _id: 1, a: "é" }]],
  },
  {
    package: "nodemailer",
    version: "10.6.0",
    shows: "a message with an attachment sent over SMTP",
    imports: `import nodemailer from "nodemailer";`,
    body: `const transport = nodemailer.createTransport({ host: "127.0.0.1", port: servers.smtp, secure: false, ignoreTLS: true, auth: { user: "u", pass: "p" } }); const info = await transport.sendMail({ from: "a@b.c", to: "d@e.f", subject: "Hé", text: "hello", attachments: [{ filename: "f.txt", content: "file" }] }); transport.close(); return [info.accepted, info.response];`,
    result: [["d@e.f"], "250 kept SMOp and f.txt"],
  },
  {
    package: "mqtt",
    version: "5.16.0",
    shows: "subscribe, publish, receive",
    imports: `import mqtt from "mqtt";`,
    body: `const client = await mqtt.connectAsync("mqtt://127.0.0.1:" + servers.mqtt, { reconnectPeriod: 0 }); const heard = new Promise((ok) => client.on("message", (topic, payload) => ok([topic, String(payload)]))); await client.subscribeAsync("t/#"); await client.publishAsync("t/1", "hé", { qos: 1 }); const message = await heard; await client.endAsync(); return message;`,
    result: ["t/1", "hé"],
  },
  {
    package: "ssh2-sftp-client",
    version: "12.1.1",
    shows: "loaded",
    refused: "it computes with WebAssembly, which isolates do not have; put files where HTTP reaches them",
    imports: `import Client from "ssh2-sftp-client";`,
    body: `return new Client().connect({ host: "127.0.0.1", port: servers.redis, username: "u", password: "p", readyTimeout: 2000 });`,
    result: "WebAssembly is not defined",
  },
];
