import { lazyRouteComponent } from "@tanstack/react-router";
import type { ComponentType } from "react";
import { HomePage } from "../pages/home/page.tsx";

interface PageRoute {
  readonly path: string;
  readonly component: ComponentType;
}

/** All pages by their address. Home is part of the first load; the code of the others is loaded when they are opened. */
export const pageRoutes = [
  { path: "/", component: HomePage },
  { path: "/sources", component: lazyRouteComponent(() => import("../pages/sources/page.tsx"), "SourcesPage") },
  { path: "/sources/new", component: lazyRouteComponent(() => import("../pages/new-source/page.tsx"), "NewSourcePage") },
  { path: "/sources/$id", component: lazyRouteComponent(() => import("../pages/source/page.tsx"), "SourcePage") },
  { path: "/webhooks", component: lazyRouteComponent(() => import("../pages/webhooks/page.tsx"), "WebhooksPage") },
  { path: "/webhooks/$id", component: lazyRouteComponent(() => import("../pages/webhook/page.tsx"), "WebhookPage") },
  { path: "/subscriptions", component: lazyRouteComponent(() => import("../pages/subscriptions/page.tsx"), "SubscriptionsPage") },
  { path: "/workflows", component: lazyRouteComponent(() => import("../pages/workflows/page.tsx"), "WorkflowsPage") },
  { path: "/workflows/$id", component: lazyRouteComponent(() => import("../pages/workflow/page.tsx"), "WorkflowPage") },
  { path: "/search", component: lazyRouteComponent(() => import("../pages/search/page.tsx"), "SearchPage") },
  { path: "/traces/$id", component: lazyRouteComponent(() => import("../pages/trace/page.tsx"), "TracePage") },
  { path: "/accounts", component: lazyRouteComponent(() => import("../pages/accounts/page.tsx"), "AccountsPage") },
  { path: "/variables", component: lazyRouteComponent(() => import("../pages/variables/page.tsx"), "VariablesPage") },
  { path: "/data-stores", component: lazyRouteComponent(() => import("../pages/data-stores/page.tsx"), "DataStoresPage") },
  { path: "/organization", component: lazyRouteComponent(() => import("../pages/organization/page.tsx"), "OrganizationPage") },
  { path: "/admin", component: lazyRouteComponent(() => import("../pages/admin/page.tsx"), "AdminPage") },
  { path: "/operations", component: lazyRouteComponent(() => import("../pages/operations/page.tsx"), "OperationsPage") },
  { path: "/profile", component: lazyRouteComponent(() => import("../pages/profile/page.tsx"), "ProfilePage") },
] as const satisfies readonly PageRoute[];

/** The pages of the navigation. */
export const navigation = [
  ["/", "Home"],
  ["/sources", "Sources"],
  ["/webhooks", "Webhooks"],
  ["/subscriptions", "Subscriptions"],
  ["/workflows", "Workflows"],
  ["/search", "Search"],
  ["/accounts", "Accounts"],
  ["/variables", "Variables"],
  ["/data-stores", "Data stores"],
  ["/organization", "Organization"],
  ["/operations", "Operations"],
  ["/admin", "Admin"],
] as const;
