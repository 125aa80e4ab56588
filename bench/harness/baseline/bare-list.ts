import type { AddressInfo } from "node:net";
import express from "express";
import pg from "pg";
import { orders, reply } from "../child.ts";

/** The baseline of lists: express and one query for the same rows, returned unchanged, without authentication. */
const { url, namespace } = await orders<{ readonly url: string; readonly namespace: string }>();
const pool = new pg.Pool({ connectionString: url, max: 10 });
const text = `
  select name, created_at, labels, spec, status from resources where kind = 'Source' and namespace = $1 and ended_at is null
  order by created_at desc, name desc limit $2`;

const app = express().disable("x-powered-by").disable("etag");
app.get("/sources", (request, response) => {
  const limit = Number(request.query["limit"] ?? 10);
  pool.query({ name: "page", text, values: [namespace, limit] }).then(
    ({ rows }) => response.json({ data: rows }),
    (error: Error) => response.status(500).send(error.message),
  );
});
const server = app.listen(0, "127.0.0.1", () => reply({ port: (server.address() as AddressInfo).port })); // listens on TCP
