import { describe, expect, it } from "vitest";
import { accountKind, type AccountResource } from "../../../crds/account.ts";
import { namespaceOfOwner } from "../../../domain/ids.ts";
import { ada, withApi } from "./support.ts";

const api = withApi(
  {},
  {
    secretValues: {
      keep: async (_holder, texts) =>
        Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, { sealed: `sealed(${btoa(text)})` }])),
    },
  },
);
const oauth = { token_url: "https://shop.test/token", client_id: "c", client_secret: "secret-of-ada", refresh_token: "refresh-of-ada" };

describe("stored secrets of an account", () => {
  it("are sent only to the token endpoint that they were given for", async () => {
    const { id } = (await api.ask("POST", "/v1/accounts", { body: { app: "shop", oauth } })).body.data;
    const stored = (): Promise<AccountResource> => api.store.get(accountKind, namespaceOfOwner(ada.id), id.replace("_", "-"));
    const before = (await stored()).spec.oauth;
    const elsewhere = { token_url: "https://collector.test/token" };
    const put = (change: object) => api.ask("PUT", `/v1/accounts/${id}`, { body: { oauth: change } });
    for (const given of [{}, { client_secret: null }, { client_secret: "mine" }, { refresh_token: "mine" }, { client_id: "mine" }]) {
      const { status, body } = await put({ ...elsewhere, ...given });
      expect([status, body.code]).toEqual([422, "secrets_missing"]);
      expect((await stored()).spec.oauth).toEqual(before);
    }
    expect((await put(elsewhere)).body.error).toContain("oauth.refresh_token and oauth.client_secret");
    expect((await put({ token_url: "https://shop.test/token?to=collector" })).status).toBe(422);
    expect((await put({ token_url: "HTTPS://SHOP.test:443/token", scope: "read" })).status).toBe(200);
    expect((await put({ ...elsewhere, refresh_token: "mine", client_secret: null })).status).toBe(200);
    const { oauth: after } = (await stored()).spec;
    expect(after).toMatchObject({ tokenUrl: elsewhere.token_url, refreshToken: { sealed: `sealed(${btoa("mine")})` } });
    expect(after?.clientSecret).toBeUndefined();
  });
});
