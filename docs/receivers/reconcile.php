<?php // HOOKRAIL_BASE_URL=… HOOKRAIL_API_KEY=sk_… php reconcile.php received.txt   (PHP 8)
// received.txt: the webhook-id of everything received, one a line. Prints what is missing, and remembers where it was.
$file = getenv('RECONCILE_STATE') ?: 'reconcile.state';
$received = array_flip(file($argv[1], FILE_IGNORE_NEW_LINES));
// The cursor, then the events that were missing so far: one may be on its way, and arrive before the next run.
$missing = is_file($file) ? file($file, FILE_IGNORE_NEW_LINES | FILE_SKIP_EMPTY_LINES) : [''];
$cursor = array_shift($missing);
$context = stream_context_create(['http' => [
    'header' => 'authorization: API-Key ' . getenv('HOOKRAIL_API_KEY'), 'ignore_errors' => true,
]]);
for ($more = true; $more;) {
    $query = http_build_query(['order' => 'asc', 'limit' => 500] + ($cursor === '' ? [] : ['cursor' => $cursor]));
    $body = file_get_contents(getenv('HOOKRAIL_BASE_URL') . "/merchant/events?$query", false, $context);
    if ($body === false) exit(1);
    if (preg_match('/^retry-after: *(\d+)/im', implode("\n", $http_response_header), $wait)) {
        sleep((int) $wait[1]); // too many requests, or not available now
        continue;
    }
    $page = json_decode($body, true);
    if (!isset($page["next_cursor"])) throw new Exception($body);
    if ($page['gap']) echo "gap {$page['gap']}\n"; // older events are no longer in the feed
    $isSent = fn($event) => in_array('routed', array_column($event['endpoints'], 'verdict'), true);
    array_push($missing, ...array_column(array_filter($page['data'], $isSent), 'event_uuid'));
    [$cursor, $more] = [$page['next_cursor'], $page['has_more']];
    $missing = array_values(array_filter($missing, fn($id) => !isset($received[$id])));
    file_put_contents("$file.new", implode("\n", [$cursor, ...$missing, '']));
    rename("$file.new", $file); // both at once: a run that is killed is repeated from the page before
}
foreach ($missing as $id) echo "missing $id\n";
