import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { makeQueryClient } from './api/reads.ts';
import { router } from './routes.tsx';
import { tellHeight } from './shell/frame.ts';
import { takeLink } from './shell/link.ts';

takeLink();
const client = makeQueryClient();
const place = document.getElementById('console');
if (place === null) throw new Error('the page has no place for the console');
tellHeight(place);
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
