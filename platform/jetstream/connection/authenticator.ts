import { usernamePasswordAuthenticator, type Authenticator } from "@nats-io/transport-node";
import { userKeyPair } from "./key-pair.ts";

/** How a user logs in, by the text of its credentials file. */
export type Login =
  | { readonly kind: "token"; /** The user's signed token (JWT). */ readonly token: string; readonly seed: string | undefined }
  | { readonly kind: "nkey"; readonly seed: string }
  | { readonly kind: "password"; readonly user: string; readonly password: string };

/** Parses a `.creds` file, the seed of an nkey, or `user:password`. Undefined for any other text. */
export function parseLogin(text: string): Login | undefined {
  const token = /-----BEGIN NATS USER JWT-----\s*([\w.-]+)/.exec(text)?.[1];
  if (token !== undefined) return { kind: "token", token, seed: /NKEY SEED-----\s*(SU[A-Z2-7]{56})\s/.exec(text)?.[1] };
  const line = text.trim();
  if (/^SU[A-Z2-7]{56}$/.test(line)) return { kind: "nkey", seed: line };
  const [, user, password] = /^([^:\s]+):(\S+)$/.exec(line) ?? [];
  return user === undefined || password === undefined ? undefined : { kind: "password", user, password };
}

/**
 * Logs in with the text that `read` returns, which is called for each connection: rotated credentials need no restart. If `read` throws, or
 * its text is not complete yet, logs in with the last complete text. The client closes a connection for good if its authenticator throws.
 *
 * @param text used until `read` returns a complete one
 */
export function authenticatorOf(text: string, read: () => string): Authenticator {
  let last = text;
  return (nonce) => {
    try {
      const current = read();
      const login = loginWith(current)(nonce);
      last = current;
      return login;
    } catch {
      return loginWith(last)(nonce);
    }
  };
}

/** Throws at the call of the authenticator if the text has no complete login. */
function loginWith(text: string): Authenticator {
  const login = parseLogin(text);
  if (login?.kind === "password") return usernamePasswordAuthenticator(login.user, login.password);
  if (login?.seed === undefined) throw new Error("the credentials are not complete");
  const pair = userKeyPair(login.seed);
  const token = login.kind === "token" ? { jwt: login.token } : {};
  return (nonce) => ({
    ...token,
    nkey: pair.getPublicKey(),
    sig: nonce === undefined ? "" : Buffer.from(pair.sign(Buffer.from(nonce))).toString("base64"),
  });
}
