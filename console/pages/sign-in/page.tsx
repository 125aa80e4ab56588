import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState, type FormEvent } from "react";
import { queryClient } from "../../api/query-client.ts";
import { signIn } from "../../api/session.ts";
import { useSearchParams } from "../../parts/search.ts";
import { Button } from "../../parts/button.tsx";
import { TextField } from "../../parts/field.tsx";
import { ErrorNotice, Loading } from "../../parts/notices.tsx";
import { text } from "./strings.ts";

/** Takes the token of a one-time link out of the address, so that it stays in no history. */
function takeLink(): string | undefined {
  const link = /^#link=([\w-]+)$/.exec(location.hash)?.[1];
  if (link !== undefined) history.replaceState(history.state, "", location.pathname + location.search);
  return link;
}

export function SignInPage() {
  const [{ to }] = useSearchParams();
  const [key, setKey] = useState("");
  const [link, setLink] = useState(takeLink);
  const [error, setError] = useState<Error>();
  const [isPending, setIsPending] = useState(false);
  const hasUsedLink = useRef(false);
  const navigate = useNavigate();
  const enter = async (credential: { readonly api_key: string } | { readonly link: string }): Promise<void> => {
    setIsPending(true);
    try {
      queryClient.setQueryData(["session"], await signIn(credential));
      // Only addresses of this console.
      await navigate({ href: to !== undefined && /^\/(?!\/|\\)/.test(to) ? to : "/", replace: true });
    } catch (thrown) {
      setError(thrown instanceof Error ? thrown : new Error(String(thrown)));
      setIsPending(false);
      setLink(undefined);
    }
  };
  useEffect(() => {
    document.title = `${text.title} · Headwater`;
    if (link === undefined || hasUsedLink.current) return;
    hasUsedLink.current = true;
    void enter({ link }); // It reports errors itself.
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void enter({ api_key: key.trim() }); // As above.
  };
  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-sm flex-col justify-center gap-4 p-4">
      <h1 className="text-xl font-semibold">{text.title}</h1>
      {link !== undefined ? (
        <Loading />
      ) : (
        <form onSubmit={submit} className="flex flex-col gap-4">
          <TextField
            label={text.key}
            hint={text.hint}
            type="password"
            autoComplete="current-password"
            required
            autoFocus
            value={key}
            onChange={(event) => setKey(event.target.value)}
          />
          {error !== undefined && <ErrorNotice error={error} title={text.failed} />}
          <Button kind="primary" type="submit" disabled={isPending || key.trim() === ""}>
            {isPending ? text.checking : text.action}
          </Button>
        </form>
      )}
    </main>
  );
}
