import { useQuery } from "@tanstack/react-query";
import { Outlet, useLocation, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";
import { onSessionEnd, queryClient } from "../api/query-client.ts";
import { readSession, type Session } from "../api/session.ts";
import { Loaded } from "../parts/notices.tsx";
import { Navigation } from "./navigation.tsx";
import { SessionContext } from "../parts/session-context.tsx";
import { useShortcuts } from "./shortcuts.ts";
import { text } from "./strings.ts";
import { Toasts } from "../parts/toasts.tsx";

const Palette = lazy(() => import("./palette.tsx"));
const Help = lazy(() => import("./help.tsx"));

/** The frame of all pages. Sends to the sign-in page without a session. */
export function Shell() {
  const session = useQuery({
    queryKey: ["session"],
    queryFn: async () => (await readSession()) ?? null,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const navigate = useNavigate();
  const { pathname, searchStr } = useLocation();
  const isSignedOut = session.data === null;
  useEffect(() => onSessionEnd(() => queryClient.setQueryData(["session"], null)), []);
  useEffect(() => {
    if (isSignedOut && pathname !== "/sign-in")
      void navigate({ to: "/sign-in", search: { to: pathname + searchStr } as never, replace: true }); // Cannot fail.
  }, [isSignedOut, navigate, pathname, searchStr]);
  if (session.data !== undefined && session.data !== null) return <Frame session={session.data} />;
  return (
    <div className="p-4">
      <Loaded isLoading={session.isPending} error={session.error} retry={() => void session.refetch()}>
        {null}
      </Loaded>
    </div>
  );
}

function Frame({ session }: { readonly session: Session }) {
  const [overlay, setOverlay] = useState<"palette" | "help">();
  useShortcuts({ onPalette: () => setOverlay("palette"), onHelp: () => setOverlay("help") });
  const close = (): void => setOverlay(undefined);
  return (
    <SessionContext value={session}>
      <a href="#content" className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:bg-raised focus:p-2">
        {text.skip}
      </a>
      <div className="flex min-h-dvh flex-col lg:flex-row">
        <Navigation onPalette={() => setOverlay("palette")} />
        <main id="content" tabIndex={-1} className="mx-auto w-full max-w-[100rem] min-w-0 flex-1 p-1 outline-none min-[12rem]:p-3 sm:p-6">
          <Suspense>
            <Outlet />
          </Suspense>
        </main>
      </div>
      <Suspense>
        {overlay === "palette" && <Palette onClose={close} />}
        {overlay === "help" && <Help onClose={close} />}
      </Suspense>
      <Toasts />
    </SessionContext>
  );
}
