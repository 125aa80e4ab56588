/** The signed-in user. */
export interface Session {
  readonly user: { readonly id: string; readonly username: string; readonly email: string };
  readonly scopes: readonly string[];
  readonly csrf_token: string;
}

/** Signing in failed, with the reason that the server gave. */
export class SignInError extends Error {
  override readonly name = "SignInError";
}

let csrfToken = "";

/** Headers of a request: browsers send the cookie by themselves. */
export const sessionHeaders = (method: string): Readonly<Record<string, string>> =>
  method === "GET" ? {} : { "x-headwater-csrf": csrfToken };

/** The session of the cookie; undefined without one. */
export async function readSession(): Promise<Session | undefined> {
  const response = await fetch("/console/session");
  if (response.status === 401) return undefined;
  return sessionOf(response);
}

export async function signIn(credential: { readonly api_key: string } | { readonly link: string }): Promise<Session> {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(credential) };
  return sessionOf(await fetch("/console/session", init));
}

export async function signOut(): Promise<void> {
  await fetch("/console/session", { method: "DELETE", headers: sessionHeaders("DELETE") });
  csrfToken = "";
}

async function sessionOf(response: Response): Promise<Session> {
  const body = (await response.json().catch(() => ({}))) as { readonly data?: Session; readonly error?: string }; // By api/console.
  if (body.data === undefined) throw new SignInError(body.error ?? `the server responded with ${response.status}`);
  csrfToken = body.data.csrf_token;
  return body.data;
}
