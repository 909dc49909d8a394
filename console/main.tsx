import { router } from './routes.tsx';
import { tellHeight } from './shell/height.ts';
import { takeLink } from './shell/link.ts';
import { start } from './start.tsx';

takeLink();
tellHeight(start(router));
