/**
 * Moves sources, webhooks and subscriptions from one server of this interface to another.
 *
 *   node move.mjs copy     makes what is there here as well, sources switched off; may be repeated
 *   node move.mjs switch   switches each copied source off there, then on here
 *
 * Settings: FROM_URL and TO_URL (with /v1), FROM_KEY and TO_KEY. What was copied is noted in moved.json (or the file named last), where
 * you say what cannot be read there: `accounts`, from an account's id there to that here, and `props`, such as secrets, by a source's id there.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const { FROM_URL, FROM_KEY, TO_URL, TO_KEY } = process.env;
const [command, file = "moved.json"] = process.argv.slice(2);
if (!["copy", "switch"].includes(command)) end("usage: node move.mjs copy|switch [file]");
const missing = ["FROM_URL", "FROM_KEY", "TO_URL", "TO_KEY"].filter((name) => !process.env[name]);
if (missing.length > 0)
  end(`${missing.join(", ")} must be set: the addresses of both servers, such as https://example.com/v1, and a key of each`);
for (const [name, url] of Object.entries({ FROM_URL, TO_URL }))
  if (!/^https?:/.test(url) || !URL.canParse(url)) end(`${name} '${url}' is invalid: use an address such as https://example.com/v1`);
const moved = { sources: {}, webhooks: {}, accounts: {}, props: {}, switching: [], ...readMoved() };

function end(message) {
  console.error(message);
  process.exit(2);
}

function readMoved() {
  if (!existsSync(file)) return {};
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    return end(`${file} cannot be read: ${error.message}`);
  }
}

const there = (method, path, body) => ask(FROM_URL, FROM_KEY, method, path, body);
const here = (method, path, body) => ask(TO_URL, TO_KEY, method, path, body);

async function ask(base, key, method, path, body) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const response = await fetch(base + path, { method, headers, ...(body && { body: JSON.stringify(body) }) }).catch((error) => {
    throw new Error(`${base} cannot be reached: ${error.cause?.message || error.cause?.code || error.message}`);
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
  return text.trim() === "" ? undefined : JSON.parse(text);
}

/** All pages, the oldest first. */
async function list(path) {
  const all = [];
  for (let after = ""; ;) {
    const { data, page_info: page } = await there("GET", `${path}?limit=100${after && `&after=${encodeURIComponent(after)}`}`);
    all.push(...data);
    // Some lists come whole.
    if (page === undefined || data.length === 0 || all.length >= page.total_count) return all.reverse();
    after = page.end_cursor;
  }
}

/** What is shown of a prop is not always what it is given as. Undefined: it is made anew here. */
function propOf(name, value) {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  if ("endpoint_url" in value || value.type === "$.service.db") return undefined;
  if ("authProvisionId" in value) {
    const account = moved.accounts[value.authProvisionId];
    if (account === undefined)
      throw new Error(`'${name}' is the account ${value.authProvisionId}: name ours for it in 'accounts' of ${file}`);
    return { authProvisionId: account };
  }
  if ("interval_seconds" in value && value.cron) return { cron: value.cron, ...(value.timezone && { timezone: value.timezone }) };
  return "interval_seconds" in value ? { intervalSeconds: value.interval_seconds } : value;
}

async function copySource({ id, component_id, name, configured_props: given }) {
  const { data: component } = await there("GET", `/components/${component_id}`);
  const props = Object.entries(given ?? {}).map(([prop, value]) => [prop, propOf(prop, value)]);
  const { data: source } = await here("POST", "/sources", {
    component_code: component.code,
    name,
    configured_props: { ...Object.fromEntries(props.filter(([, value]) => value !== undefined)), ...moved.props[id] },
    active: false,
    emit_on_deploy: false,
  });
  const endpoints = Object.values(source.configured_props).flatMap((value) => value?.endpoint_url ?? []);
  console.log(`${id} is ${source.id} here: ${name}`, ...endpoints);
  return source.id;
}

async function copyWebhook({ id, url, name, description }) {
  const { data: webhook } = await here("POST", "/webhooks", { url, name, description });
  console.log(`${id} is ${webhook.id} here: ${url}, signed with ${webhook.signing_key}`);
  return webhook.id;
}

async function copySubscription({ emitter_id, listener_id, event_name }) {
  const ours = { "dc_*": "dc_*", ...moved.sources, ...moved.webhooks };
  if (!ours[emitter_id] || !ours[listener_id]) throw new Error(`${ours[emitter_id] ? listener_id : emitter_id} was not copied`);
  await here("POST", "/subscriptions", { emitter_id: ours[emitter_id], listener_id: ours[listener_id], event_name });
}

/** Each is noted at once: whatever ends this, the next time goes on. */
async function copyAll(kind, items, copy) {
  for (const item of items) {
    if (moved[kind]?.[item.id] !== undefined) continue;
    await attempt(`${kind} ${item.id}`, async () => {
      const id = await copy(item);
      if (id === undefined) return;
      note(() => (moved[kind][item.id] = id));
    });
  }
}

function note(change) {
  change();
  writeFileSync(file, `${JSON.stringify(moved, undefined, 2)}\n`);
}

async function attempt(what, work) {
  await work().catch((error) => {
    process.exitCode = 1;
    console.error(`${what}: ${error.message}`);
  });
}

/** Off there first: better a pause than everything twice. Noted before, so that what ends between the two is made up for the next time. */
async function switchSource({ id, component_id, name, active }) {
  if (!active && !moved.switching.includes(id)) return;
  note(() => moved.switching.push(id));
  await there("PUT", `/sources/${id}`, { component_id, name, active: false });
  await here("PUT", `/sources/${moved.sources[id]}`, { active: true });
  note(() => (moved.switching = moved.switching.filter((other) => other !== id)));
  console.log(`${moved.sources[id]} runs here instead of ${id}`);
}

async function copyEverything() {
  await copyAll("sources", await list("/users/me/sources"), copySource);
  await copyAll("webhooks", await list("/users/me/webhooks"), copyWebhook);
  await copyAll("subscriptions", await list("/users/me/subscriptions"), copySubscription);
}

async function switchAll() {
  const copied = (await list("/users/me/sources")).filter(({ id }) => moved.sources[id] !== undefined);
  for (const source of copied) await attempt(`sources ${source.id}`, () => switchSource(source));
}

await attempt(command, command === "copy" ? copyEverything : switchAll);
