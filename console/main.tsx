import { router } from './routes.tsx';
import { takeLink } from './shell/link.ts';
import { start } from './start.tsx';

takeLink();
start(router);
