import { Link, useLocation } from "@tanstack/react-router";
import { Menu as MenuIcon, Search } from "lucide-react";
import { useEffect, useState } from "react";
import { signOut } from "../api/session.ts";
import { OwnerSelect } from "./owner-select.tsx";
import { navigation } from "./routes.ts";
import { useSession } from "../parts/session-context.tsx";
import { text } from "./strings.ts";
import { ThemeSelect } from "./theme-select.tsx";

/** The bar with all pages, the choice of owner and theme, and the user. On narrow screens a button opens it. */
export function Navigation({ onPalette }: { readonly onPalette: () => void }) {
  const [isOpen, setIsOpen] = useState(false);
  const { pathname } = useLocation();
  useEffect(() => setIsOpen(false), [pathname]);
  return (
    <header className="flex shrink-0 flex-col gap-3 border-b border-line bg-surface p-1 min-[12rem]:p-3 lg:sticky lg:top-0 lg:h-dvh lg:w-56 lg:overflow-y-auto lg:border-r lg:border-b-0">
      <div className="flex flex-wrap items-center gap-2">
        <Link to="/" className="mr-auto min-w-0 font-semibold text-text no-underline">
          {text.product}
        </Link>
        <button type="button" aria-label={text.palette} title={text.palette} className={iconLook} onClick={onPalette}>
          <Search aria-hidden className="size-4" />
        </button>
        <button
          type="button"
          aria-label={text.menu}
          aria-expanded={isOpen}
          className={`${iconLook} lg:hidden`}
          onClick={() => setIsOpen(!isOpen)}
        >
          <MenuIcon aria-hidden className="size-4" />
        </button>
      </div>
      <div className={`${isOpen ? "flex" : "hidden"} min-w-0 flex-1 flex-col gap-3 lg:flex`}>
        <nav aria-label={text.pages} className="flex flex-col gap-0.5">
          {navigation.map(([to, name]) => (
            <Link
              key={to}
              to={to}
              activeOptions={{ exact: to === "/", includeSearch: false }}
              activeProps={{ className: "bg-accent-soft font-medium !text-text", "aria-current": "page" }}
              className="rounded px-2 py-1.5 text-sm text-muted no-underline hover:bg-accent-soft"
            >
              {name}
            </Link>
          ))}
        </nav>
        <Person />
      </div>
    </header>
  );
}

function Person() {
  const { user } = useSession();
  const leave = async (): Promise<void> => {
    await signOut();
    // Loads the page again, so that nothing of the session is left in memory.
    location.assign("/sign-in");
  };
  return (
    <div className="mt-auto flex min-w-0 flex-col gap-2 text-sm">
      <OwnerSelect />
      <ThemeSelect />
      <Link to="/profile" className="text-muted hover:text-text">
        {user.username}
      </Link>
      <button type="button" className="w-fit text-left text-muted hover:text-text" onClick={() => void leave()}>
        {text.signOut}
      </button>
    </div>
  );
}

const iconLook = "inline-flex size-8 items-center justify-center rounded text-muted hover:bg-accent-soft";
