import { start } from '../start.tsx';
import { router } from './routes.tsx';

start(router);
