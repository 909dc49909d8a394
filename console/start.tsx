import { QueryClientProvider } from '@tanstack/react-query';
import { type AnyRouter, RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { makeQueryClient } from './api/reads.ts';
import { ErrorPanel, Loading } from './parts/screen.tsx';

/** The options that the routers of both consoles share. */
export const ROUTER = {
  basepath: '/console',
  defaultPreload: 'intent',
  defaultPendingComponent: Loading,
  defaultErrorComponent: ({ error, reset }: { readonly error: unknown; readonly reset: () => void }) => (
    <ErrorPanel error={error instanceof Error ? error : new Error(String(error))} retry={reset} />
  ),
} as const;

/** Shows a console in the page. Returns the element that it fills. */
export function start(router: AnyRouter): HTMLElement {
  const client = makeQueryClient();
  const place = document.getElementById('console');
  if (place === null) throw new Error('the page has no place for the console');
  createRoot(place).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
  return place;
}
