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

/**
 * Name of the second secret of the session in the storage of this origin, which all its tabs share. Pages of other ports of this host share
 * the cookie only, so they cannot put the browser into a session of theirs.
 */
const secretName = "headwater.session";

/** Headers of a request: browsers send the cookie by themselves. */
export const sessionHeaders = (): Readonly<Record<string, string>> => ({ "x-headwater-csrf": localStorage.getItem(secretName) ?? "" });

/** The session in which this browser has signed in; undefined without one. */
export async function readSession(): Promise<Session | undefined> {
  if (localStorage.getItem(secretName) === null) return undefined;
  const response = await fetch("/console/session", { headers: sessionHeaders() });
  if (response.status === 401) return undefined;
  return sessionOf(response);
}

export async function signIn(credential: { readonly api_key: string } | { readonly link: string }): Promise<Session> {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(credential) };
  return sessionOf(await fetch("/console/session", init));
}

export async function signOut(): Promise<void> {
  await fetch("/console/session", { method: "DELETE", headers: sessionHeaders() });
  localStorage.removeItem(secretName);
}

async function sessionOf(response: Response): Promise<Session> {
  const body = (await response.json().catch(() => ({}))) as { readonly data?: Session; readonly error?: string }; // By api/console.
  if (body.data === undefined) throw new SignInError(body.error ?? `the server responded with ${response.status}`);
  localStorage.setItem(secretName, body.data.csrf_token);
  return body.data;
}
