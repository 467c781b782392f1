"""A watch of the Python client that goes on from the last version; a line for each event."""
import json
import sys
import time

import urllib3
from kubernetes import client, watch

configuration = client.Configuration()
configuration.host = sys.argv[1]
configuration.retries = False
api = client.CustomObjectsApi(client.ApiClient(configuration))
version = None
watched = watch.Watch()
while True:
    try:
        given = {} if version is None else {"resource_version": version}
        for event in watched.stream(api.list_namespaced_custom_object, "clients.example", "v1", "default", "notes", timeout_seconds=60, **given):
            found = event["object"]
            version = found["metadata"]["resourceVersion"]
            entry = {"type": event["type"], "name": found["metadata"]["name"], "version": version, "number": found.get("number", 0)}
            print(json.dumps(entry), flush=True)
    except (client.ApiException, urllib3.exceptions.HTTPError):
        time.sleep(0.1)
