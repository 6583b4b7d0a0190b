BIDS = {"qingdao": {}, "shiwei": {}, "weihai": {}}
