import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, inject } from "vitest";
import { call, clientOf, type Called, type Client } from "./client.ts";
import type { SystemAccess } from "./system-broker.ts";

/** A user with a key for everything. */
export interface SystemUser extends Client {
  readonly id: string;
  readonly username: string;
  readonly email: string;
}

/** A user of the system that all files of a run share; available from `beforeAll` on. */
export interface SharedSystem extends SystemUser {
  readonly adminTokenFile: string;
  /** One call of the admin API, such as `POST /users`. */
  asAdmin<T = unknown>(method: string, path: string, body?: unknown): Promise<Called<T>>;
  /** Another user. */
  addUser(): Promise<SystemUser>;
}

/**
 * Gives the test file that calls this at its top level a user of the shared system. Metrics, the audit log and lists of the admin API also have
 * what other files do at the same time. At the end of the file the resources of its users are deleted.
 */
export function withSystem(): SharedSystem {
  let access: SystemAccess;
  let own: SystemUser;
  const users: SystemUser[] = [];
  const asAdmin = <T>(method: string, path: string, body?: unknown): Promise<Called<T>> =>
    call<T>(access.apiUrl.replace(/\/v1$/, "/admin/v1"), access.adminToken, method, path, body);
  const addUser = async (): Promise<SystemUser> => {
    const username = `test-${randomBytes(6).toString("hex")}`;
    const email = `${username}@example.com`;
    const { id } = await created(asAdmin("POST", "/users", { username, email, email_confirmed: true }));
    const { key = "" } = await created(asAdmin("POST", `/users/${id}/keys`, { name: "test" }));
    const user = { ...clientOf(access.apiUrl, access.ingressUrl, key), id, username, email };
    users.push(user);
    return user;
  };
  beforeAll(async () => {
    access = await askBroker();
    own = await addUser();
  });
  afterAll(async () => {
    for (const { id } of users) await asAdmin("DELETE", `/users/${id}/resources`);
  });
  return {
    get id() {
      return own.id;
    },
    get username() {
      return own.username;
    },
    get email() {
      return own.email;
    },
    get key() {
      return own.key;
    },
    get apiUrl() {
      return own.apiUrl;
    },
    get ingressUrl() {
      return own.ingressUrl;
    },
    get adminTokenFile() {
      return access.adminTokenFile;
    },
    call: (method, path, body) => own.call(method, path, body),
    asAdmin,
    addUser,
  };
}

interface Created {
  readonly data: { readonly id: string; readonly key?: string };
}

async function created(called: Promise<Called<Created>>): Promise<Created["data"]> {
  const { status, text, body } = await called;
  if (status !== 200) throw new Error(`the admin API returned ${status}: ${text}`);
  return body.data;
}

async function askBroker(): Promise<SystemAccess> {
  const response = await fetch(inject("systemBroker"));
  const answer = (await response.json()) as SystemAccess | { readonly error: string }; // Only system-broker.ts writes this.
  if ("error" in answer) throw new Error(`the shared system did not start: ${answer.error}`);
  return answer;
}
