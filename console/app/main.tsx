import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { onWarnings, queryClient } from "../api/query-client.ts";
import { showWarnings } from "../parts/toasts.tsx";
import { router } from "./router.tsx";
import { applyTheme } from "./theme.ts";
import "./style.css";

applyTheme();
onWarnings(showWarnings);
const root = document.querySelector("#root");
if (root === null) throw new Error("index.html has no element #root");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
